import { RecordRejected, RecordTooLarge } from './errors.ts';
import type { Lane } from './lane.ts';
import type { ClientError } from './ports.ts';
import type { Transaction } from './transaction.ts';

const SHRINK = 8;
const GROW = 2;

/** What is to become of the record that made the broker refuse its transaction. */
export interface Culprit {
  lane: Lane;
  offset: number;
  error: Error;
  /** `dead-letter`: the record is at fault. `hold`: its topic is, or it is a dead letter already. */
  action: 'dead-letter' | 'hold';
}

/**
 * Finds the record behind a refused transaction. The broker names no record, so the transactions are made smaller until
 * one with a single source record is refused: that one is the culprit, and its neighbours have gone through meanwhile.
 * Where it is about size, the writer makes its batches smaller in step.
 */
export class Isolation {
  readonly #max: number;
  #limit: number;

  constructor(maxRecords: number) {
    this.#max = maxRecords;
    this.#limit = maxRecords;
  }

  /** Source records that may go into one transaction now. */
  get limit(): number {
    return this.#limit;
  }

  committed(): void {
    this.#limit = Math.min(this.#max, this.#limit * GROW);
  }

  /** After a refusal that was aborted; null while the culprit is still one of several. */
  rejected(transaction: Transaction, error: ClientError, batchBytes: number): Culprit | null {
    const { size, first } = transaction;
    this.#limit = Math.max(1, Math.floor(Math.min(size, this.#limit) / SHRINK));
    if (!first || size !== 1 || (error.isTooLarge && transaction.sharesBatch(batchBytes))) return null;
    const { lane, offset, deadLetter, outputs } = first;
    const topics = [...new Set(outputs.map(({ topic }) => topic))].join(', ');
    const message = `topic ${topics} refuses what was written: ${error.message}`;
    const why = new (error.isTooLarge ? RecordTooLarge : RecordRejected)(message, { cause: error });
    return { lane, offset, error: why, action: deadLetter === null && error.recordLevel ? 'dead-letter' : 'hold' };
  }
}
