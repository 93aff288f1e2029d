import type { RetryConfig } from '../config/compiled.ts';
import { errorType, isRetriable, toError } from '../transform/errors.ts';
import { RecordRejected, RecordTooLarge, TransformTooSlow } from './errors.ts';
import type { Observer } from './observer.ts';
import type { InputRecord, OutputRecord, RecordTransform, TopicPartition } from './ports.ts';
import { retryDelay } from './retry.ts';
import { wireSize } from './size.ts';
import type { Verdicts } from './verdicts.ts';

/** A record whose transform has ended: all of it, or nothing, goes into one transaction. */
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

/** What the lanes of a pipeline share. */
export interface LaneContext {
  readonly transform: RecordTransform;
  readonly retry: RetryConfig;
  readonly observer: Observer;
  readonly verdicts: Verdicts;
  readonly maxPollIntervalMs: number;
  maxRecordBytes(): number;
  /** The dead letter for a record that is given up, or null where the pipeline has no topic for them. */
  deadLetter(record: InputRecord, error: Error, attempts: number): OutputRecord | null;
  /** False while as much as may be buffered waits for its transaction. */
  hasRoom(): boolean;
  complete(completed: Completed): void;
  /** Called when something happened outside of the loop's own step. */
  wake(): void;
  /** A record can neither be processed nor dead-lettered, and the pipeline is to stop then. */
  stop(error: Error, record: InputRecord): void;
  stopsOnError: boolean;
}

/** Records a lane may keep before its partition is paused, and how few before it is resumed. */
const HIGH_WATER = 10_000;
const LOW_WATER = 1_000;
const HIGH_WATER_BYTES = 8 << 20;

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
 * One assigned partition: its records in order, one at a time through the transform.
 *
 *                 ┌────────── result ──────────┐
 *                 ▼                            │
 *   record ──▶  idle ──── returns a promise ─▶ running
 *                 │ ▲                            │
 *          throws │ │ time is up                 │ rejects
 *                 ▼ │                            │
 *               waiting ◀────────────────────────┘
 *
 * `waiting` is also where a held lane stays between its tries: its record failed for good and no dead letter can be
 * written. A rewind or the end of the assignment leads out of every state; a promise that settles later finds
 * another epoch and is dropped.
 */
export class Lane implements TopicPartition {
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
  readonly #context: LaneContext;
  #state: 'idle' | 'running' | 'waiting' | 'closed' = 'idle';
  #queue: InputRecord[] = [];
  #head = 0;
  #bytes = 0;
  #epoch = 0;
  #failing: Failing | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(partition: TopicPartition, start: { offset: number; pinned: boolean }, context: LaneContext) {
    this.topic = partition.topic;
    this.partition = partition.partition;
    this.committed = start.offset;
    this.pinned = start.pinned;
    this.#context = context;
  }

  get queued(): number {
    return this.#queue.length - this.#head;
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Whether everything that was read is committed. */
  get isSettled(): boolean {
    return this.lastRead < this.committed;
  }

  /** Why the lane can not go on, or null. */
  get held(): string | null {
    return this.#failing?.held ?? null;
  }

  get shouldPause(): boolean {
    return this.#state === 'waiting' || this.queued >= HIGH_WATER || this.#bytes >= HIGH_WATER_BYTES;
  }

  get shouldResume(): boolean {
    return this.#state !== 'waiting' && this.queued <= LOW_WATER && this.#bytes <= HIGH_WATER_BYTES / 2;
  }

  accept(record: InputRecord): void {
    this.#queue.push(record);
    this.lastRead = record.offset;
    this.#bytes += record.value?.length ?? 0;
  }

  /** Runs the transform over what is queued, until something has to be waited for. */
  pump(): void {
    if (this.#state !== 'idle') return;
    const queue = this.#queue;
    while (this.#head < queue.length && this.#context.hasRoom()) {
      const record = queue[this.#head];
      if (!record || !this.#step(record)) return;
    }
    if (this.#head === queue.length && this.#head > 0) {
      this.#queue = [];
      this.#head = 0;
      this.#bytes = 0;
    }
  }

  /** Returns whether the next record may be taken. */
  #step(record: InputRecord): boolean {
    const context = this.#context;
    const failing = this.#failing;
    let attempt = 1;
    if (failing?.offset === record.offset) {
      if (performance.now() < failing.notBefore) {
        this.#wait(failing.notBefore);
        return false;
      }
      attempt = failing.attempt;
    }
    const verdict = context.verdicts.get(this, record.offset);
    if (verdict) return this.#giveUp(record, verdict.error, verdict.attempts);
    const started = performance.now();
    let result: readonly OutputRecord[] | Promise<readonly OutputRecord[]>;
    try {
      result = context.transform(record, attempt);
    } catch (thrown) {
      context.observer.transformed(this.#ran(record, started));
      return this.#failed(record, thrown, attempt);
    }
    const heldMs = this.#ran(record, started);
    if (!(result instanceof Promise)) {
      context.observer.transformed(heldMs);
      return this.#finish(record, result, attempt);
    }
    this.#state = 'running';
    const epoch = this.#epoch;
    const ended = (next: () => void) => {
      if (epoch !== this.#epoch) return; // rewound or given up meanwhile: the record comes again, here or elsewhere
      this.#state = 'idle';
      context.observer.transformed(performance.now() - started);
      next();
      this.pump();
      context.wake();
    };
    result.then(
      (outputs) => {
        ended(() => this.#finish(record, outputs, attempt));
      },
      (thrown: unknown) => {
        ended(() => this.#failed(record, thrown, attempt));
      },
    );
    return false;
  }

  /**
   * After the transform gave the event loop back, with a result or a promise. One that keeps it longer than the group
   * waits makes the group take the partition away, and the next owner runs into the same: such tries are counted
   * across assignments. Returns for how many ms it kept the event loop.
   */
  #ran(record: InputRecord, started: number): number {
    const { verdicts, maxPollIntervalMs, retry } = this.#context;
    const heldMs = performance.now() - started;
    if (heldMs < maxPollIntervalMs) return heldMs;
    const attempts = verdicts.strike(this, record.offset);
    if (attempts < retry.attempts) return heldMs;
    const message =
      `the transform kept the event loop busy for ${(heldMs / 1000).toFixed(1)} s, longer than consumer.maxPollInterval allows, ` +
      `${attempts} times: let it wait with await, make it faster, or raise consumer.maxPollInterval`;
    verdicts.set(this, record.offset, { error: new TransformTooSlow(message), attempts });
    return heldMs;
  }

  #finish(record: InputRecord, outputs: readonly OutputRecord[], attempt: number): boolean {
    const limit = this.#context.maxRecordBytes();
    for (const output of outputs) {
      const size = (output.value?.length ?? 0) + (output.key?.length ?? 0) + 1_000 < limit ? 0 : wireSize(output);
      if (size > limit) {
        const message = `an output of ${size} bytes for topic ${output.topic} is larger than message.max.bytes (${limit}) of the producer`;
        return this.#giveUp(record, new RecordTooLarge(message), attempt);
      }
    }
    this.#complete(record, outputs, null);
    return true;
  }

  #complete(record: InputRecord, outputs: readonly OutputRecord[], deadLetter: string | null): void {
    const failing = this.#failing;
    const alone = failing?.offset === record.offset && failing.held !== null;
    this.#head++;
    this.#context.complete({
      lane: this,
      offset: record.offset,
      timestamp: record.timestamp,
      outputs,
      deadLetter,
      alone,
    });
  }

  #failed(record: InputRecord, thrown: unknown, attempt: number): boolean {
    const { observer, retry } = this.#context;
    const error = toError(thrown);
    const held = this.#failing?.offset === record.offset ? this.#failing.held : null;
    if (attempt >= retry.attempts || !isRetriable(error) || held !== null) {
      return this.#giveUp(record, error, attempt);
    }
    const delayMs = retryDelay(retry, attempt);
    const notBefore = performance.now() + delayMs;
    this.#failing = { offset: record.offset, attempt: attempt + 1, notBefore, held: null };
    observer.retried({ ...this.#place(record), attempt, error, delayMs });
    this.#wait(notBefore);
    return false;
  }

  #giveUp(record: InputRecord, error: Error, attempts: number): boolean {
    const { observer, verdicts } = this.#context;
    const letter = this.#context.deadLetter(record, error, attempts);
    if (!letter) return this.#hold(record, error, attempts, `${error.message} (no deadLetter topic is configured)`);
    const size = wireSize(letter);
    if (size > this.#context.maxRecordBytes()) {
      const reason = `its dead letter of ${size} bytes is larger than message.max.bytes of the producer`;
      return this.#hold(record, error, attempts, `${error.message}; ${reason}`);
    }
    verdicts.set(this, record.offset, { error, attempts });
    observer.deadLettered({ ...this.#place(record), attempt: attempts, error });
    this.#complete(record, [letter], errorType(error));
    return true;
  }

  #hold(record: InputRecord, error: Error, attempt: number, reason: string): boolean {
    if (this.#context.stopsOnError) {
      this.#context.stop(new RecordRejected(reason, { cause: error }), record);
      this.#state = 'waiting';
      return false;
    }
    this.hold(record.offset, error, attempt, reason);
    return false;
  }

  /** Keeps the lane from going on past `offset`; it is tried again every `retry.maxDelay`. */
  hold(offset: number, error: Error, attempt: number, reason: string): void {
    const { observer, retry } = this.#context;
    const notBefore = performance.now() + Math.max(retry.maxDelayMs, 100);
    const known = this.#failing?.offset === offset && this.#failing.held !== null;
    this.#failing = { offset, attempt, notBefore, held: `offset ${offset}: ${reason}` };
    if (!known) observer.held({ topic: this.topic, partition: this.partition, offset, attempt, error });
    this.#wait(notBefore);
  }

  #place(record: InputRecord) {
    return { topic: this.topic, partition: this.partition, offset: record.offset };
  }

  #wait(until: number): void {
    this.#state = 'waiting';
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#state = 'idle';
        this.#context.wake();
      },
      Math.max(0, until - performance.now()),
    );
  }

  /** Everything before `offset` is committed. */
  settled(offset: number, records: number): void {
    this.committed = offset;
    this.pinned = true;
    if (records === 0) return;
    const failing = this.#failing;
    if (!failing || failing.offset >= offset) return;
    this.#failing = null;
    if (failing.held !== null) this.#context.observer.released({ topic: this.topic, partition: this.partition });
  }

  /** Forgets what was read; reading goes on at `offset`. */
  rewind(offset: number): void {
    this.#drop();
    this.#state = 'idle';
    this.committed = offset;
    this.lastRead = -1;
    const failing = this.#failing;
    if (failing && failing.held !== null && performance.now() < failing.notBefore) this.#wait(failing.notBefore);
  }

  /** The partition is no longer ours. */
  close(): void {
    this.#drop();
    this.#state = 'closed';
  }

  #drop(): void {
    this.#epoch++;
    this.#queue = [];
    this.#head = 0;
    this.#bytes = 0;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
