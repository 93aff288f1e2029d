import type { Applied, EffectRecord } from '../adapter.ts';

/** More than any batch has; past that the oldest are forgotten, which costs a request and nothing else. */
const CAPACITY = 10_000;

/**
 * What the service has confirmed of batches that failed further on. Without it, a batch that is asked to wait after
 * every tenth request would begin anew each time and never come to its end.
 */
export class Confirmed {
  readonly #outcomes = new Map<string, Applied>();

  get(record: EffectRecord): Applied | undefined {
    return this.#outcomes.get(identity(record));
  }

  remember(record: EffectRecord, outcome: Applied): void {
    this.#outcomes.set(identity(record), outcome);
    if (this.#outcomes.size <= CAPACITY) return;
    const [oldest] = this.#outcomes.keys();
    if (oldest !== undefined) this.#outcomes.delete(oldest);
  }

  /** Once the caller knows. */
  forget(batch: readonly EffectRecord[]): void {
    for (const record of batch) this.#outcomes.delete(identity(record));
  }
}

/** Not the event id alone: its second record in a batch is a request of its own, and the service's to judge. */
function identity({ source, eventId }: EffectRecord): string {
  return JSON.stringify([source.topic, source.partition, source.offset, eventId]);
}
