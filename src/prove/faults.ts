import { setTimeout as delay } from 'node:timers/promises';
import type { Crew } from './crew.ts';
import type { Worker } from './worker.ts';

/** Those that are always there. */
export const INSTANCES = ['a', 'b', 'c'] as const;
/** Comes and goes, so that partitions change hands. */
const GUEST = 'd';

const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 2_500;
/** When a fault found nobody to meet, the next look comes so soon. */
const LOOK_AGAIN_MS = 100;
const SHORT_FREEZE_S = 2;

/** Returns whether there was anybody to do it to. */
type Fault = (crew: Crew) => boolean;

export interface FaultOptions {
  readonly durationMs: number;
  /** After so long the group takes a worker for dead. */
  readonly sessionTimeoutMs: number;
}

/**
 * Kills, freezes and rebalances the workers, one thing every few seconds, each kind at least once a round, in another
 * order each round. What a fault leaves behind (a frozen worker, a guest) may meet the next one.
 */
export async function disturb(crew: Crew, options: FaultOptions, signal: AbortSignal): Promise<void> {
  const end = performance.now() + options.durationMs;
  const longFreezeS = Math.ceil(options.sessionTimeoutMs / 1_000) + 2;
  // Half a proof spent standing still shows little.
  const canFreezeLong = 2_000 * longFreezeS <= options.durationMs;
  const freezes = [SHORT_FREEZE_S, canFreezeLong ? longFreezeS : SHORT_FREEZE_S].map(freezeFor);
  for (;;) {
    for (const fault of [kill, ...shuffled([kill, kill, ...freezes, visit, visit])]) {
      let pauseMs = MIN_PAUSE_MS + Math.random() * (MAX_PAUSE_MS - MIN_PAUSE_MS);
      do {
        await delay(pauseMs, undefined, { signal });
        if (performance.now() >= end || crew.isCollapsing) return;
        pauseMs = LOOK_AGAIN_MS;
      } while (!fault(crew));
    }
  }
}

/** One that commits, so that the fault meets live work. */
function victim(crew: Crew): Worker | undefined {
  return shuffled(crew.present.filter((worker) => worker.isWorking && worker.instance !== GUEST))[0];
}

function kill(crew: Crew): boolean {
  const worker = victim(crew);
  if (worker) void crew.kill(worker);
  return worker !== undefined;
}

function freezeFor(seconds: number): Fault {
  return (crew) => {
    const worker = victim(crew);
    if (worker) void crew.freeze(worker, seconds);
    return worker !== undefined;
  };
}

/** The guest joins the group, or leaves it as it should. */
function visit(crew: Crew): boolean {
  const guest = crew.present.find(({ instance }) => instance === GUEST);
  if (guest) void guest.stop();
  else crew.start(GUEST);
  return true;
}

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}
