import { partitionId, type TopicPartition } from './ports.ts';

export interface Verdict {
  error: Error;
  attempts: number;
}

/** Beyond this the oldest is forgotten, and its record tried afresh. */
const MAX_VERDICTS = 10_000;

const key = (partition: TopicPartition, offset: number) => `${partitionId(partition)}/${offset}`;

/**
 * Records that were given up, until their dead letters are committed. An aborted transaction brings the records back:
 * they are then dead-lettered at once instead of being tried, and waited for, all over again. Kept across
 * assignments: a record whose transform costs the membership would otherwise be tried for ever.
 */
export class Verdicts {
  readonly #verdicts = new Map<string, Verdict>();
  readonly #strikes = new Map<string, number>();

  get(partition: TopicPartition, offset: number): Verdict | undefined {
    if (this.#verdicts.size === 0) return undefined;
    return this.#verdicts.get(key(partition, offset));
  }

  set(partition: TopicPartition, offset: number, verdict: Verdict): void {
    remember(this.#verdicts, key(partition, offset), verdict);
  }

  /** Counts a try of a record that may have cost the membership; returns how many there were. */
  strike(partition: TopicPartition, offset: number): number {
    const strikes = (this.#strikes.get(key(partition, offset)) ?? 0) + 1;
    remember(this.#strikes, key(partition, offset), strikes);
    return strikes;
  }

  settled(partition: TopicPartition, offset: number): void {
    this.#verdicts.delete(key(partition, offset));
    this.#strikes.delete(key(partition, offset));
  }
}

function remember<T>(map: Map<string, T>, id: string, entry: T): void {
  if (map.size >= MAX_VERDICTS && !map.has(id)) {
    const oldest = map.keys().next();
    if (!oldest.done) map.delete(oldest.value);
  }
  map.set(id, entry);
}
