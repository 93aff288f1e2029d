import { readdirSync, readFileSync } from 'node:fs';

import type { Processor } from '../helpers/processor.ts';
import { workersOf } from '../helpers/workers.ts';
import type { Point } from './drift.ts';

const EVERY_MS = 2_000;
/** A process that is younger still fills its caches. */
const SETTLED_MS = 30_000;

export const QUANTITIES = [
  'worker memory (MiB)',
  'worker files',
  'worker threads',
  'supervisor memory (MiB)',
  'supervisor files',
  'supervisor threads',
  'metric series',
] as const;

export type Quantity = (typeof QUANTITIES)[number];

/** What the processes of a soak hold, looked at every two seconds. */
export interface Sampler {
  readonly points: ReadonlyMap<Quantity, readonly Point[]>;
  stop(): void;
}

/** @param running The supervisors that run now. */
export function startSampler(running: () => readonly Processor[]): Sampler {
  const startedAt = performance.now();
  const points = new Map<Quantity, Point[]>(QUANTITIES.map((quantity) => [quantity, []]));
  const firstSeen = new Map<number, number>();

  function add(quantity: Quantity, value: number): void {
    points.get(quantity)?.push({ at: performance.now() - startedAt, value });
  }

  function look(role: 'worker' | 'supervisor', pid: number): boolean {
    const now = performance.now();
    const seen = firstSeen.get(pid) ?? now;
    firstSeen.set(pid, seen);
    if (now - seen < SETTLED_MS) return false;
    const held = holdingsOf(pid);
    if (!held) return false;
    add(`${role} memory (MiB)`, held.residentKib / 1024);
    add(`${role} files`, held.files);
    add(`${role} threads`, held.threads);
    return true;
  }

  function lookAtAll(): void {
    for (const processor of running()) {
      const isSettled = look('supervisor', processor.pid);
      for (const { pid } of workersOf(processor)) look('worker', pid);
      if (isSettled && processor.lastMetrics) add('metric series', processor.lastMetrics.size);
    }
  }

  const timer = setInterval(lookAtAll, EVERY_MS);
  return { points, stop: () => clearInterval(timer) };
}

/** From `/proc`; undefined for a process that is gone. */
function holdingsOf(pid: number): { residentKib: number; threads: number; files: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
    return { residentKib: field('VmRSS'), threads: field('Threads'), files: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined; // it ended between two looks, as a fault wanted it to
  }
}
