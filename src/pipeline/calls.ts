import { setTimeout as delay } from 'node:timers/promises';
import { NoAnswer, within } from './deadline.ts';
import { ClientError } from './ports.ts';

const PAUSE_MS = 20;

/** Calls of the client about a transaction: none is waited for longer than the transaction lives. */
export class Calls {
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal;
  #unreturned = 0;

  constructor(timeoutMs: number, signal: AbortSignal) {
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
  }

  /** How many have not returned, those that were given up among them. */
  get unreturned(): number {
    return this.#unreturned;
  }

  /** Calls until it succeeds, fails for good, or time is up. @throws ClientError; NoAnswer: what it did is unknown. */
  async make(call: () => Promise<void>): Promise<void> {
    const deadline = performance.now() + this.#timeoutMs;
    for (;;) {
      try {
        // The client has calls that ignore their own timeout (librdkafka #5456).
        await within(this.#counted(call()), deadline - performance.now(), this.#signal);
        return;
      } catch (error) {
        if (!(error instanceof ClientError) || error.kind !== 'retriable') throw error;
        if (performance.now() >= deadline) throw new NoAnswer(error.message);
        await delay(PAUSE_MS, undefined, { signal: this.#signal });
      }
    }
  }

  #counted(call: Promise<void>): Promise<void> {
    this.#unreturned++;
    const returned = () => {
      this.#unreturned--;
    };
    call.then(returned, returned);
    return call;
  }
}
