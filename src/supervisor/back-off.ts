import type { RestartConfig } from '../config/compiled.ts';

/** How long to wait before a worker is started again, and when no more: counted over its processes. */
export class BackOff {
  readonly #config: RestartConfig;
  #inARow = 0;

  constructor(config: RestartConfig) {
    this.#config = config;
  }

  /** Restarts since a process last lived for long enough. */
  get inARow(): number {
    return this.#inARow;
  }

  /** After a process has ended: the wait before the next one, in ms, or null where there were enough of them. */
  next(lifeMs: number): number | null {
    const { attempts, minDelayMs, maxDelayMs, resetAfterMs } = this.#config;
    if (lifeMs >= resetAfterMs) this.#inARow = 0;
    if (this.#inARow >= attempts) return null;
    return Math.min(maxDelayMs, minDelayMs * 2 ** this.#inARow++);
  }
}
