import { setTimeout as delay } from 'node:timers/promises';

export interface Patience {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
  /** What there is to be seen when the wait was in vain. */
  readonly seen?: () => string;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** Asks until the probe gives something other than undefined or false; a deadline's message says what was last seen. */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  { timeoutMs = DEFAULT_TIMEOUT_MS, everyMs = 50, seen = () => '' }: Patience = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs / 1_000} s in vain for ${what}\n${seen()}`);
    await delay(everyMs);
  }
}

/** For faults that last so long. What there is a condition for is waited for by `waitFor`. */
export async function passed(ms: number): Promise<void> {
  await delay(ms);
}
