import type { Completed, Lane } from './lane.ts';
import type { OutputRecord, TopicPartitionOffset } from './ports.ts';
import { signed } from './provenance.ts';
import { wireSize } from './size.ts';

/** The only place that adds 1 to an offset: what is committed, and where reading goes on, is the one after the last. */
export const nextOffset = (last: number): number => last + 1;

interface Progress {
  /** Offset of the last record, -1 before the first. */
  last: number;
  records: number;
  /** What to commit where there is no record. */
  position: number;
}

export interface TransactionLimits {
  maxRecords: number;
  maxBytes: number;
}

/**
 * What one transaction holds: whole records only, each with all its outputs. `outputs` is what still has to be handed
 * to the client; everything else is kept for the offsets and for the facts reported after the commit.
 */
export class Transaction {
  readonly produced = new Map<string, number>();
  readonly deadLetters: Completed[] = [];
  readonly timestamps: number[] = [];
  /** `performance.now()` when the first record came in: the broker's clock for the transaction starts soon after. */
  openedAt = 0;
  filtered = 0;
  outputs: OutputRecord[] = [];
  /** The first record: the only one where `size` is 1. */
  first: Completed | null = null;
  readonly #progress = new Map<Lane, Progress>();
  readonly #attempt: string | null;
  #bytes = 0;
  #alone = false;
  #lastLane: Lane | null = null;
  #lastProgress: Progress = { last: -1, records: 0, position: -1 };
  #lastOutput = '';
  #lastProduced = 0;

  /** `attempt` is what the attempt header of this transaction's records begins with, or null for no provenance. */
  constructor(attempt: string | null) {
    this.#attempt = attempt;
  }

  /** Source records. */
  get size(): number {
    return this.timestamps.length;
  }

  /** Whether nothing can be added any more. */
  isFull(limits: TransactionLimits): boolean {
    return this.#alone || this.size >= limits.maxRecords || this.#bytes >= limits.maxBytes;
  }

  /** Returns false where `completed` has to wait for the next transaction. */
  add(completed: Completed, limits: TransactionLimits): boolean {
    if (this.isFull(limits) || (completed.alone && this.size > 0)) return false;
    if (!this.first) {
      this.openedAt = performance.now();
      this.first = completed;
      this.#alone = completed.alone;
    }
    if (completed.lane !== this.#lastLane) this.#switchTo(completed.lane);
    this.#lastProgress.last = completed.offset;
    this.#lastProgress.records++;
    this.timestamps.push(completed.timestamp);
    const { outputs } = completed;
    if (outputs.length === 0) this.filtered++;
    if (completed.deadLetter !== null) this.deadLetters.push(completed);
    for (let index = 0; index < outputs.length; index++) {
      const output = outputs[index];
      if (output) this.#write(this.#attempt === null ? output : this.#signed(output, completed, index));
    }
    return true;
  }

  #switchTo(lane: Lane): void {
    this.#lastLane = lane;
    const known = this.#progress.get(lane);
    this.#lastProgress = known ?? { last: -1, records: 0, position: -1 };
    if (!known) this.#progress.set(lane, this.#lastProgress);
  }

  #write(output: OutputRecord): void {
    this.#bytes += (output.value?.length ?? 0) + (output.key?.length ?? 0);
    if (output.output !== this.#lastOutput) {
      this.#count();
      this.#lastOutput = output.output;
    }
    this.#lastProduced++;
    this.outputs.push(output);
  }

  #signed(output: OutputRecord, { lane, offset, outputs }: Completed, index: number): OutputRecord {
    const { topic, partition } = lane;
    return signed(output, { topic, partition, offset }, `${this.#attempt ?? ''}/${index}/${outputs.length}`);
  }

  #count(): void {
    if (this.#lastProduced > 0) {
      this.produced.set(this.#lastOutput, (this.produced.get(this.#lastOutput) ?? 0) + this.#lastProduced);
    }
    this.#lastProduced = 0;
  }

  /** Commits where a lane stands without a record: its start, or behind control records. */
  pin(lane: Lane): void {
    if (!this.#progress.has(lane)) this.#progress.set(lane, { last: -1, records: 0, position: lane.position });
  }

  /** What to commit: per lane that moved, the offset after its last record. */
  offsets(): TopicPartitionOffset[] {
    return Array.from(this.#progress, ([{ topic, partition }, progress]) => ({
      topic,
      partition,
      offset: positionAfter(progress),
    }));
  }

  /** After a rewind: whether the committed offsets show that this transaction was committed after all. */
  get isCommitted(): boolean {
    return [...this.#progress].every(
      ([lane, progress]) => !lane.isClosed && lane.pinned && lane.committed >= positionAfter(progress),
    );
  }

  /** After the commit: tells the lanes; returns the source records by topic. */
  settle(): Map<string, number> {
    this.#count();
    const records = new Map<string, number>();
    for (const [lane, progress] of this.#progress) {
      lane.settled(positionAfter(progress), progress.records);
      if (progress.records > 0) records.set(lane.topic, (records.get(lane.topic) ?? 0) + progress.records);
    }
    return records;
  }

  /** Whether a refusal for its size may mean a batch of several records, none of which is too large by itself. */
  sharesBatch(batchBytes: number): boolean {
    const outputs = this.first?.outputs ?? [];
    return this.size > 1 || (outputs.length > 1 && batchBytes > Math.max(...outputs.map(wireSize)));
  }
}

function positionAfter({ last, position }: Progress): number {
  return last < 0 ? position : nextOffset(last);
}
