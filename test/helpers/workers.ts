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

/** Whether a process of that number is there: a worker, where it was one. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
