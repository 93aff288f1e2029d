import type { Sample } from '../page/overview.ts';
import type { MetricsSnapshot } from './aggregate.ts';
import { sampleOf } from './totals.ts';

const EVERY_MS = 5_000;
/** Fifteen minutes. */
const KEPT = 180;

/** The last minutes of some metrics, for who has no Prometheus at hand. Bounded, and gone with the process. */
export class History {
  readonly #flows: readonly string[];
  readonly #snapshot: () => Promise<MetricsSnapshot>;
  readonly #samples: Sample[] = [];

  constructor(flows: readonly string[], snapshot: () => Promise<MetricsSnapshot>) {
    this.#flows = flows;
    this.#snapshot = snapshot;
  }

  /** Oldest first. */
  get samples(): readonly Sample[] {
    return this.#samples;
  }

  /** Samples at once and every few seconds; it keeps no process alive. */
  start(): void {
    const sample = () => {
      // The plots get a hole; what is wrong with the metrics, /metrics says to whoever asks.
      this.#sample().catch(() => undefined);
    };
    sample();
    setInterval(sample, EVERY_MS).unref();
  }

  async #sample(): Promise<void> {
    const snapshot = await this.#snapshot();
    const flows = Object.fromEntries(this.#flows.map((name) => [name, sampleOf(snapshot, name)]));
    this.#samples.push({ at: Date.now(), flows });
    if (this.#samples.length > KEPT) this.#samples.shift();
  }
}
