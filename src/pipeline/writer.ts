import { setTimeout as delay } from 'node:timers/promises';
import { Calls } from './calls.ts';
import { NoAnswer } from './deadline.ts';
import type { Completed, Lane } from './lane.ts';
import { PipelineFailed } from './errors.ts';
import type { AbortReason, Observer, RecycleReason } from './observer.ts';
import { ClientError, type Consumer, type Producer } from './ports.ts';
import { Transaction, type TransactionLimits } from './transaction.ts';

export interface WriterOptions {
  /** Makes a new producer under the same transactional id. */
  createProducer: (batchBytes: number) => Producer;
  consumer: Consumer;
  observer: Observer;
  transactionalId: string;
  transactionTimeoutMs: number;
  /** Begins the attempt header, or null for no provenance. */
  provenance: string | null;
  /** Aborts when the process must end without waiting for anything. */
  signal: AbortSignal;
}

export type Outcome =
  | { kind: 'committed'; transaction: Transaction; durationMs: number }
  | {
      kind: 'aborted';
      transaction: Transaction;
      reason: AbortReason;
      error: ClientError | null;
      /** How large the producer's batches were. */
      batchBytes: number;
    }
  /** The commit was asked for and its answer never came: the committed offsets tell. */
  | { kind: 'unknown'; transaction: Transaction; durationMs: number; reason: AbortReason; error: ClientError | null };

/** How many producers may be needed in a row without a commit in between, before the process gives up. */
const MAX_RECYCLES = 10;
const RECYCLE_MIN_MS = 100;
const RECYCLE_MAX_MS = 10_000;
/** Calls that have not returned; each holds a producer and a thread of the pool. */
const MAX_STUCK = 4;
const BATCH_BYTES = 262_144;
const MIN_BATCH_BYTES = 1_024;

/**
 * The transactional producer's life.
 *
 *   opening ──▶ open ──settle()──▶ settling ──committed / aborted──▶ open
 *      ▲                              │
 *      │                              │ fatal · outcome unknown · doubt · timed out
 *      └────────── recycling ◀────────┘         fenced by a rival, too many recycles ──▶ PipelineFailed
 *
 * There is always a transaction begun while the writer is open: to the broker it exists only once something is
 * written. After every outcome but `committed` the caller rewinds to the committed offsets: a commit whose answer got
 * lost is settled by the new producer's epoch, and the offsets then tell which way it went.
 */
export class TransactionWriter {
  readonly #options: WriterOptions;
  readonly #calls: Calls;
  #state: 'opening' | 'open' | 'settling' | 'closed' = 'opening';
  #producer: Producer;
  #transaction: Transaction;
  /** Outputs that the client's queue had no room for yet. */
  #from = 0;
  #failure: ClientError | null = null;
  /** Whether the broker may have got the request to commit. */
  #asked = false;
  #generation = 0;
  #number = 0;
  #recyclesInARow = 0;
  #batchBytes = BATCH_BYTES;
  readonly #closing = new Set<Promise<void>>();

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#calls = new Calls(options.transactionTimeoutMs, options.signal);
    this.#producer = options.createProducer(this.#batchBytes);
    this.#transaction = this.#next();
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get transaction(): Transaction {
    return this.#transaction;
  }

  /** True when the transaction can only be aborted. */
  get isDoomed(): boolean {
    return this.#failure !== null;
  }

  /** True while outputs wait for room in the client's queue. */
  get hasBacklog(): boolean {
    return this.#from < this.#transaction.outputs.length;
  }

  get maxRecordBytes(): number {
    return this.#producer.maxRecordBytes;
  }

  #next(): Transaction {
    const { provenance } = this.#options;
    this.#number++;
    return new Transaction(provenance === null ? null : `${provenance}.${this.#generation}/${this.#number}`);
  }

  /** Connects, settles what a former holder of the transactional id left open, begins. */
  async open(): Promise<void> {
    await this.#start();
    this.#state = 'open';
  }

  /** Takes as many of `completed` as fit; returns how many. */
  write(completed: readonly Completed[], limits: TransactionLimits): number {
    if (this.#state !== 'open' || this.#failure) return 0;
    let taken = 0;
    for (const entry of completed) {
      if (!this.#transaction.add(entry, limits)) break;
      taken++;
    }
    this.flush();
    return taken;
  }

  /** Hands over what the client's queue had no room for. */
  flush(): void {
    if (this.#state !== 'open' || this.#failure || !this.hasBacklog) return;
    const transaction = this.#transaction;
    try {
      this.#from = this.#producer.produce(transaction.outputs, this.#from);
    } catch (error) {
      this.#failure = error as ClientError;
      return;
    }
    if (!this.hasBacklog) {
      transaction.outputs = [];
      this.#from = 0;
    }
  }

  /** Commits the transaction, or aborts it if it is doomed. Nothing may be in the backlog. */
  commit(pins: readonly Lane[]): Promise<Outcome> {
    for (const lane of pins) this.#transaction.pin(lane);
    return this.#settle(async () => {
      const offsets = this.#transaction.offsets();
      const { consumer } = this.#options;
      if (this.#failure) {
        // A refused produce() may only show what happened to the transaction before. This call, which can't commit
        // anything by itself, tells what that was.
        await this.#calls.make(() => this.#producer.sendOffsets(offsets, consumer));
        throw this.#failure;
      }
      if (offsets.length > 0) await this.#calls.make(() => this.#producer.sendOffsets(offsets, consumer));
      this.#asked = true;
      await this.#calls.make(() => this.#producer.commit());
    });
  }

  abort(reason: AbortReason): Promise<Outcome> {
    return this.#settle(() => Promise.reject(new Aborted(reason)));
  }

  async #settle(commit: () => Promise<void>): Promise<Outcome> {
    const transaction = this.#transaction;
    this.#state = 'settling';
    let outcome: Outcome;
    try {
      await commit();
      this.#recyclesInARow = 0;
      outcome = { kind: 'committed', transaction, durationMs: performance.now() - transaction.openedAt };
      const doubt = this.#producer.doubt();
      if (doubt) await this.#recycle(doubt, null);
      else await this.#begin();
    } catch (error) {
      if (error instanceof PipelineFailed) throw error;
      this.#options.signal.throwIfAborted();
      outcome = await this.#undo(transaction, error);
    }
    this.#transaction = this.#next();
    this.#from = 0;
    this.#failure = null;
    this.#asked = false;
    this.#state = 'open';
    return outcome;
  }

  async #undo(transaction: Transaction, cause: unknown): Promise<Outcome> {
    const error = cause instanceof ClientError ? cause : null;
    if (!error && !(cause instanceof Aborted) && !(cause instanceof NoAnswer)) throw cause;
    let reason: AbortReason = 'error';
    if (cause instanceof Aborted) reason = cause.reason;
    else if (error?.kind === 'rejected' || error?.kind === 'stale') reason = error.kind;
    const batchBytes = this.#batchBytes;
    const recycle = await this.#abandon(transaction, error, cause);
    if (recycle === 'timed-out') reason = 'timeout';
    if (recycle) await this.#recycle(recycle, error);
    else await this.#begin();
    // The client refuses a commit that must become an abort before it asks the broker for it.
    if (!this.#asked || error?.endsInAbort === true) return { kind: 'aborted', transaction, reason, error, batchBytes };
    return { kind: 'unknown', transaction, durationMs: performance.now() - transaction.openedAt, reason, error };
  }

  /** Ends the transaction without its effects; returns why a new producer is needed for that, or null. */
  async #abandon(transaction: Transaction, error: ClientError | null, cause: unknown): Promise<RecycleReason | null> {
    const shared = transaction.sharesBatch(this.#batchBytes);
    if (cause instanceof NoAnswer) return 'unknown-commit';
    if (error?.kind === 'fenced') return this.#fenced(transaction.openedAt, error);
    if (error?.kind === 'denied') throw error;
    if (error && !error.endsInAbort) return 'fatal';
    if (error?.kind === 'rejected') {
      // Batches behind a refused one fail for their sequence, and the client's next calls wait until it has sorted that
      // out, seconds or a time-out later. A new producer has the broker abort the transaction at once.
      if (error.isTooLarge) this.#resizeBatches(shared);
      return 'rejected';
    }
    try {
      await this.#calls.make(() => this.#producer.abort());
    } catch (second) {
      if (second instanceof ClientError && second.kind === 'fenced') return this.#fenced(transaction.openedAt, second);
      return second instanceof NoAnswer ? 'slow-call' : 'fatal';
    }
    return this.#producer.doubt();
  }

  /**
   * The client reports a rival and a transaction that ran out of time alike. When so much time has passed that the
   * broker must have ended the transaction, that is taken for the cause: a rival would then fence the new producer too.
   */
  #fenced(openedAt: number, error: ClientError): RecycleReason {
    const { transactionTimeoutMs, transactionalId } = this.#options;
    const open = openedAt > 0 ? performance.now() - openedAt : 0;
    if (open >= transactionTimeoutMs * 0.9) return 'timed-out';
    throw new PipelineFailed(
      `another process has taken over the transactional id ${transactionalId}: two instances run under one name. ` +
        `Give each its own "instance" in the configuration (this one stops, the other goes on)`,
      { cause: error },
    );
  }

  /**
   * A topic that takes only small batches refuses those made for others: the next producer makes smaller ones, until a
   * record is refused that was alone in its batch.
   */
  #resizeBatches(shared: boolean): void {
    this.#batchBytes = shared ? Math.max(MIN_BATCH_BYTES, this.#batchBytes / 2) : BATCH_BYTES;
  }

  async #begin(): Promise<void> {
    try {
      await this.#producer.begin();
    } catch (error) {
      const failure = error as ClientError;
      // Nothing was open that could have run out of time.
      await this.#recycle(failure.kind === 'fenced' ? this.#fenced(0, failure) : 'fatal', failure);
    }
  }

  /** Replaces the producer: its successor's epoch makes the broker settle whatever was left open or under way. */
  async #recycle(reason: RecycleReason, error: ClientError | null): Promise<void> {
    const { observer, createProducer, signal } = this.#options;
    let why = reason;
    let cause = error;
    for (;;) {
      this.#retire(this.#producer);
      this.#generation++;
      observer.recycled(why, cause);
      // While a culprit is looked for, each new producer is a step ahead.
      if (why !== 'rejected') this.#recyclesInARow++;
      if (this.#recyclesInARow > MAX_RECYCLES || this.#calls.unreturned > MAX_STUCK) {
        const last = cause ? `; the last failure: ${cause.message}` : '';
        throw new PipelineFailed(`no transaction could be committed with ${MAX_RECYCLES} producers in a row${last}`, {
          isFinal: false,
        });
      }
      if (why !== 'rejected' && this.#recyclesInARow > 1) {
        const pause = Math.min(RECYCLE_MAX_MS, RECYCLE_MIN_MS * 2 ** (this.#recyclesInARow - 2));
        await delay(pause, undefined, { signal });
      }
      this.#producer = createProducer(this.#batchBytes);
      try {
        await this.#start();
        return;
      } catch (failed) {
        if (!(failed instanceof ClientError) || failed.kind === 'denied') throw failed;
        why = 'fatal';
        cause = failed;
      }
    }
  }

  async #start(): Promise<void> {
    const { signal } = this.#options;
    for (;;) {
      try {
        await this.#producer.init(signal);
        await this.#producer.begin();
        return;
      } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        if (error.kind === 'denied') throw error;
        if (error.kind === 'fenced') this.#fenced(0, error);
        if (error.kind !== 'retriable') throw error;
        await delay(RECYCLE_MIN_MS, undefined, { signal });
      }
    }
  }

  /** Closes a producer once its last call has returned; until then its client must not be touched. */
  #retire(producer: Producer): void {
    const closing = producer.close().finally(() => {
      this.#closing.delete(closing);
    });
    this.#closing.add(closing);
  }

  /** After a failure: aborts what is open, if the producer still can, so that readers need not wait for its time-out. */
  async abandon(): Promise<void> {
    if (this.#state === 'open' && this.#transaction.size > 0) {
      await this.#producer.abort().catch(() => undefined); // the broker aborts it later, or the successor does
    }
    await this.close();
  }

  /** Resolves when all producers there were are gone; one whose last call hangs may keep it from that. */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.#retire(this.#producer);
    await Promise.allSettled(this.#closing);
  }
}

/** The caller asked for the abort. */
class Aborted extends Error {
  readonly reason: AbortReason;
  constructor(reason: AbortReason) {
    super(reason);
    this.reason = reason;
  }
}
