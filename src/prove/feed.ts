import { setTimeout as delay } from 'node:timers/promises';
import type { IdempotentProducer } from '../kafka/idempotent-producer.ts';
import type { InputRecord } from '../pipeline/ports.ts';

const TICK_MS = 50;
/** Slow enough for any cluster, quick enough that there is always work under way. */
const MIN_PER_SECOND = 200;
/** All that is fed is kept in memory, several times: a longer proof is fed more slowly. */
const MAX_RECORDS = 100_000;
/** Of records that wait, so many seconds' worth: workers that can't keep up are not buried. */
const AHEAD_S = 10;

export interface FeedPlan {
  /** Fed again and again, until the time is up. */
  readonly sample: readonly InputRecord[];
  /** The name of a topic's copy. */
  readonly copyOf: (topic: string) => string;
  readonly durationMs: number;
  /** How many of the records fed are committed. */
  readonly committed: () => number;
}

/** Records a second: the whole sample within the time, and not so few that faults would find the workers idle. */
export function rateOf(records: number, durationMs: number): number {
  const seconds = durationMs / 1_000;
  return Math.max(records / seconds, Math.min(MIN_PER_SECOND, MAX_RECORDS / seconds));
}

/** Fills the copy of the input steadily. */
export class Feed {
  /** Records so far. */
  fed = 0;
  readonly #producer: IdempotentProducer;

  constructor(producer: IdempotentProducer) {
    this.#producer = producer;
  }

  /** Resolves when the time is up and all is written. */
  async run({ sample, copyOf, durationMs, committed }: FeedPlan, signal: AbortSignal): Promise<void> {
    const perSecond = rateOf(sample.length, durationMs);
    const end = performance.now() + durationMs;
    // By the clock, not by the tick: a busy machine makes ticks late. What was kept back is not made up for.
    for (let due = 0, last = performance.now(); last < end;) {
      await delay(TICK_MS, undefined, { signal });
      const now = performance.now();
      due += ((now - last) / 1_000) * perSecond;
      last = now;
      for (; due >= 1; due--) {
        const record = sample[this.fed % sample.length];
        if (!record || this.fed - committed() > AHEAD_S * perSecond) {
          due = 0;
          break;
        }
        await this.#producer.send({ ...record, topic: copyOf(record.topic) }, signal);
        this.fed++;
      }
    }
    await this.#producer.flush(signal);
  }
}
