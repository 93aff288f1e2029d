import { BoundedLabel } from './bounded-label.ts';

const MAX_KINDS = 100;

/**
 * Thins out log lines that repeat: of each kind one passes per interval, and the next one that passes says how many did not.
 * A broker that is down, or a topic full of poison, must not fill the disk with copies of one line.
 */
export class Thinner {
  readonly #intervalMs: number;
  readonly #now: () => number;
  readonly #kind = new BoundedLabel(MAX_KINDS);
  readonly #states = new Map<string, { quietUntil: number; suppressed: number }>();

  /** @param now A clock in milliseconds that never goes back. */
  constructor(intervalMs: number, now: () => number = () => performance.now()) {
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  /** Calls `write` with the number of lines of this kind suppressed since the last one, or counts one more and doesn't. */
  pass(name: string, write: (suppressed: number) => void): void {
    const kind = this.#kind.of(name);
    const state = this.#states.get(kind);
    if (state !== undefined && this.#now() < state.quietUntil) {
      state.suppressed++;
      return;
    }
    this.#states.set(kind, { quietUntil: this.#now() + this.#intervalMs, suppressed: 0 });
    write(state?.suppressed ?? 0);
  }
}
