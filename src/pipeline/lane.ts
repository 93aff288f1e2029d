import type { RetryConfig } from '../config/compiled.ts';
import { errorType } from '../transform/errors.ts';
import { RecordRejected } from './errors.ts';
import type { Observer } from './observer.ts';
import type { InputRecord, OutputRecord, TopicPartition } from './ports.ts';
import { wireSize } from './size.ts';
import type { Verdicts } from './verdicts.ts';

/** A record that is done with: all of it, or nothing, goes into one transaction. */
export interface Completed {
  readonly lane: Lane;
  readonly offset: number;
  readonly timestamp: number;
  readonly outputs: readonly OutputRecord[];
  /** The error's type where `outputs` is a dead letter, else null. */
  readonly deadLetter: string | null;
  /** To be written in a transaction of its own, because it may be refused again. */
  readonly alone: boolean;
}

/** What the lanes of a pipeline, or of an effect, share. */
export interface LaneContext {
  readonly retry: RetryConfig;
  readonly observer: Observer;
  readonly verdicts: Verdicts;
  readonly maxPollIntervalMs: number;
  maxRecordBytes(): number;
  /** The dead letter for a record that is given up, or null where there is no topic for them. */
  deadLetter(record: InputRecord, error: Error, attempts: number): OutputRecord | null;
  /** False while as much as may be buffered waits for its transaction. */
  hasRoom(): boolean;
  complete(completed: Completed): void;
  /** Called when something happened outside of the loop's own step. */
  wake(): void;
  /** A record can neither be processed nor dead-lettered, and the process is to stop then. */
  stop(error: Error, record: InputRecord): void;
  stopsOnError: boolean;
}

/** Where a lane begins. */
export interface LaneStart extends TopicPartition {
  readonly offset: number;
  /** False where the group has no committed offset yet. */
  readonly pinned: boolean;
}

/** Makes the lanes of an assignment: what distinguishes a pipeline from an effect. */
export type CreateLane = (start: LaneStart, context: LaneContext) => Lane | Promise<Lane>;

/** Records a lane may keep before its partition is paused, and how few before it is resumed. */
const HIGH_WATER = 10_000;
const LOW_WATER = 1_000;
const HIGH_WATER_BYTES = 16 << 20;
/** Records that are done with are kept in the queue until there are so many of them, or no others. */
const COMPACT = 1_000;

/** The record at the head that failed: kept over a rewind, so that its tries go on counting. */
interface Failing {
  readonly offset: number;
  attempt: number;
  /** Not to be tried before this `performance.now()`. */
  notBefore: number;
  /** Why the lane is held, or null while there are tries left. */
  held: string | null;
}

/**
 * One assigned partition: its records in order, from when they were read until they are done with. What is done with
 * them is the subclass's business; it begins in `pump()`, and each record ends in `complete` or `giveUp`, in order.
 * A rewind, or the end of the assignment, drops everything: what settles later finds another epoch.
 */
export abstract class Lane implements TopicPartition {
  readonly topic: string;
  readonly partition: number;
  /** What the group has committed, or where reading began: where an abort rewinds to. */
  committed: number;
  /** False until the group has a committed offset: the start is then committed with the first transaction. */
  pinned: boolean;
  paused = false;
  /** `performance.now()` when the last record arrived, and its offset. */
  lastArrival = 0;
  lastRead = -1;
  protected readonly context: LaneContext;
  protected state: 'idle' | 'running' | 'waiting' | 'closed' = 'idle';
  protected queue: InputRecord[] = [];
  /** Index in `queue` of the first record that is not done with. */
  protected head = 0;
  protected epoch = 0;
  protected failing: Failing | null = null;
  #bytes = 0;
  /** What was deleted before it was read, and is left out, until that is committed. */
  #skipped: { readonly from: number; readonly to: number }[] = [];
  /** Where the partition ended when reading came to its end, or -1. */
  #end = -1;
  #timer: NodeJS.Timeout | null = null;

  constructor({ topic, partition, offset, pinned }: LaneStart, context: LaneContext) {
    this.topic = topic;
    this.partition = partition;
    this.committed = offset;
    this.pinned = pinned;
    this.context = context;
  }

  /** Goes on with what is queued, until something has to be waited for. */
  abstract pump(): void;

  get isClosed(): boolean {
    return this.state === 'closed';
  }

  /** Whether everything that was read is committed. */
  get isSettled(): boolean {
    return this.lastRead < this.committed;
  }

  /** What could be committed now: beyond `committed` where only control records and aborted records lie between. */
  get position(): number {
    return this.isSettled ? Math.max(this.committed, this.#end) : this.committed;
  }

  /** Everything before `offset` that can be read was accepted. */
  reachedEnd(offset: number): void {
    this.#end = offset;
  }

  /** Why the lane can not go on, or null. */
  get held(): string | null {
    return this.failing?.held ?? null;
  }

  get shouldPause(): boolean {
    return this.state === 'waiting' || this.#queued >= HIGH_WATER || this.#bytes >= HIGH_WATER_BYTES;
  }

  get shouldResume(): boolean {
    return this.state !== 'waiting' && this.#queued <= LOW_WATER && this.#bytes <= HIGH_WATER_BYTES / 2;
  }

  get #queued(): number {
    return this.queue.length - this.head;
  }

  accept(record: InputRecord): void {
    // 1. a poll takes record n out of the client's queue  2. the partition is paused; the client notes n as what to
    // fetch next  3. the poll returns n  4. resumed, n is fetched again: a duplicate, hence this check.
    if (record.offset <= this.lastRead || record.offset < this.committed) return;
    this.queue.push(record);
    this.lastRead = record.offset;
    this.#bytes += weight(record);
  }

  /** The record at the head is done with. */
  protected complete(record: InputRecord, outputs: readonly OutputRecord[], deadLetter: string | null): void {
    const { failing } = this;
    const alone = failing?.offset === record.offset && failing.held !== null;
    this.head++;
    this.#bytes -= weight(record);
    const { offset, timestamp } = record;
    this.context.complete({ lane: this, offset, timestamp, outputs, deadLetter, alone });
  }

  /** Lets go of the records that are done with; returns by how many the others moved up in the queue. */
  protected compact(): number {
    const { head } = this;
    if (head < this.queue.length && head < COMPACT) return 0;
    this.queue = this.queue.slice(head);
    this.head = 0;
    return head;
  }

  /** The dead letter of a record that no further try can help, or why there can be none. */
  protected letterFor(record: InputRecord, error: Error, attempts: number): Letter | { held: string } {
    const { observer, verdicts } = this.context;
    const letter = this.context.deadLetter(record, error, attempts);
    if (!letter) return { held: `${error.message} (no deadLetter topic is configured)` };
    const size = wireSize(letter);
    if (size > this.context.maxRecordBytes()) {
      return {
        held: `${error.message}; its dead letter of ${size} bytes is larger than message.max.bytes of the producer`,
      };
    }
    verdicts.set(this, record.offset, { error, attempts });
    observer.deadLettered({ ...this.place(record), attempt: attempts, error });
    return { letter, type: errorType(error) };
  }

  /** Returns whether the process stops for it. */
  protected stops(record: InputRecord, error: Error, reason: string): boolean {
    if (!this.context.stopsOnError) return false;
    this.context.stop(new RecordRejected(reason, { cause: error }), record);
    this.state = 'waiting';
    return true;
  }

  /** Keeps the lane from going on past `offset`; it is tried again every `retry.maxDelay`. */
  hold(offset: number, error: Error, attempt: number, reason: string): void {
    const { observer, retry } = this.context;
    const notBefore = performance.now() + Math.max(retry.maxDelayMs, 100);
    const known = this.failing?.offset === offset && this.failing.held !== null;
    this.failing = { offset, attempt, notBefore, held: `offset ${offset}: ${reason}` };
    if (!known) observer.held({ topic: this.topic, partition: this.partition, offset, attempt, error });
    this.wait(notBefore);
  }

  protected place(record: InputRecord) {
    return { topic: this.topic, partition: this.partition, offset: record.offset };
  }

  protected wait(until: number): void {
    this.state = 'waiting';
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.state = 'idle';
        this.context.wake();
      },
      Math.max(0, until - performance.now()),
    );
  }

  /** Reading goes on at `to`. Told when that is committed: an abort takes it back, and there may be more to skip then. */
  skip(from: number, to: number): void {
    this.#skipped.push({ from, to });
  }

  #tellSkipped(committed: number): void {
    const told = this.#skipped.filter(({ to }) => to <= committed);
    if (told.length === 0) return;
    this.#skipped = this.#skipped.filter(({ to }) => to > committed);
    for (const { from, to } of told) this.context.observer.skipped(this, from, to);
  }

  /** Everything before `offset` is committed. */
  settled(offset: number, records: number): void {
    this.committed = offset;
    this.pinned = true;
    this.#tellSkipped(offset);
    if (records === 0) return;
    const { failing } = this;
    if (!failing || failing.offset >= offset) return;
    this.failing = null;
    if (failing.held !== null) this.context.observer.released({ topic: this.topic, partition: this.partition });
  }

  /** Forgets what was read; reading goes on at `offset`. */
  rewind(offset: number, pinned: boolean): void {
    this.drop();
    this.#tellSkipped(offset); // a commit without an answer may have been one after all
    this.#skipped = [];
    this.state = 'idle';
    this.committed = offset;
    this.pinned = pinned;
    this.lastRead = -1;
    if (this.failing && this.failing.offset < offset) this.failing = null;
    const { failing } = this;
    if (failing && failing.held !== null && performance.now() < failing.notBefore) this.wait(failing.notBefore);
  }

  /** The partition is no longer ours. */
  close(): void {
    this.drop();
    this.state = 'closed';
  }

  /** Begins nothing more; resolves when what was begun outside of Kafka has ended, which may be never. */
  async quiet(): Promise<void> {
    // Nothing outside of Kafka.
  }

  protected drop(): void {
    this.epoch++;
    this.queue = [];
    this.head = 0;
    this.#bytes = 0;
    this.#end = -1;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** What a record takes in memory besides its bytes. */
const RECORD_BYTES = 500;

function weight({ key, value }: InputRecord): number {
  return RECORD_BYTES + (key?.length ?? 0) + (value?.length ?? 0);
}

export interface Letter {
  readonly letter: OutputRecord;
  readonly type: string;
}
