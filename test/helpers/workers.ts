import { spawnSync } from 'node:child_process';

import type { Processor } from './processor.ts';

/** A worker as its supervisor has last announced it. */
export interface AnnouncedWorker {
  readonly pid: number;
  readonly worker: number;
}

/** The last process of each worker, by the supervisor's log, in the order of their numbers. */
export function workersOf({ log }: Processor): AnnouncedWorker[] {
  const last = new Map<number, AnnouncedWorker>();
  for (const line of log) {
    if (!line.includes('"worker starts"')) continue;
    const { pid, worker } = JSON.parse(line) as AnnouncedWorker;
    last.set(worker, { pid, worker });
  }
  return [...last.values()].sort((a, b) => a.worker - b.worker);
}

/** Whether a process of that number runs. One that has ended and that nobody has asked about its end does not. */
export function isAlive(pid: number): boolean {
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  return state !== '' && !state.startsWith('Z');
}
