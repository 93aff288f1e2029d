import { setTimeout as delay } from 'node:timers/promises';
import type { FlowConfig } from '../config/compiled.ts';
import { PipelineFailed } from './errors.ts';
import { FreezeWatch } from './freeze.ts';
import { type Culprit, Isolation } from './isolation.ts';
import type { Completed, Lane } from './lane.ts';
import type { Observer } from './observer.ts';
import { ClientError } from './ports.ts';
import type { Transaction } from './transaction.ts';
import type { Verdicts } from './verdicts.ts';
import type { Outcome, TransactionWriter } from './writer.ts';

export interface CycleOptions {
  config: FlowConfig;
  observer: Observer;
  verdicts: Verdicts;
  writer: TransactionWriter;
  /** Lanes that stand where the group has not committed, without a record to show for it. */
  unpinned: () => Lane[];
  /** Makes the loop go round: something ended, or is due. */
  wake: () => void;
  /** Aborts when nothing may be waited for any more. */
  signal: AbortSignal;
}

/** Completed records that may wait for their transaction, so that a commit does not stop the transforms. */
const READY_RECORDS = 10_000;
const READY_BYTES = 16 << 20;
/** What an output takes in memory besides its bytes: thousands of small ones may come from one record. */
const OUTPUT_BYTES = 300;
/** Fewer while a transaction settles: what has to wait long is expensive to the garbage collector. */
const READY_SETTLING = 3_000;
/** Aborts in a row for having stood still: a transform that holds the event loop looks the same, and would go on for ever. */
const MAX_STALE = 2;

/**
 * One transaction after another: what fills it, when it ends, and what its end means.
 *
 *   filling ──due──▶ settling ──committed──▶ filling
 *      ▲                 └──────aborted────▶ rewinding: completed records are refused
 *      └────────────── rewound() ───────────────┘
 *
 * A transaction settles beside the loop, which goes on polling and transforming; what is completed meanwhile waits in
 * `#ready`. `mustRewind` asks the loop to go back to the committed offsets.
 */
export class TransactionCycle {
  readonly #options: CycleOptions;
  readonly #isolation: Isolation;
  readonly #freeze: FreezeWatch;
  #ready: Completed[] = [];
  #readyBytes = 0;
  /** `performance.now()` when the oldest of `#ready` was completed. */
  #readySince = 0;
  /** `performance.now()` when the open transaction's time began. */
  #fillingSince = 0;
  #settling: Promise<void> | null = null;
  #mustRewind = false;
  #culprit: Culprit | null = null;
  #unknown: Extract<Outcome, { kind: 'unknown' }> | null = null;
  #stale = false;
  #staleInARow = 0;
  #failure: PipelineFailed | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** `performance.now()` when the assignment last grew. */
  #assignedAt = 0;
  /** `performance.now()` of the last confirmed commit. */
  lastCommit = performance.now();

  constructor(options: CycleOptions) {
    const { group, transaction } = options.config;
    this.#options = options;
    this.#isolation = new Isolation(transaction.maxRecords);
    this.#freeze = new FreezeWatch(group.sessionTimeoutMs);
  }

  start(): void {
    this.#freeze.start();
  }

  stop(): void {
    this.#freeze.stop();
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** Why the pipeline can't go on, or null. */
  get failure(): PipelineFailed | null {
    return this.#failure;
  }

  get isSettling(): boolean {
    return this.#settling !== null;
  }

  get mustRewind(): boolean {
    return this.#mustRewind;
  }

  get hasRoom(): boolean {
    const records = this.#settling ? READY_SETTLING : READY_RECORDS;
    return this.#ready.length < records && this.#readyBytes < READY_BYTES && !this.#mustRewind;
  }

  complete(completed: Completed): void {
    if (this.#mustRewind) return;
    if (this.#ready.length === 0) this.#readySince = performance.now();
    this.#ready.push(completed);
    for (const { key, value } of completed.outputs)
      this.#readyBytes += OUTPUT_BYTES + (key?.length ?? 0) + (value?.length ?? 0);
  }

  assigned(): void {
    this.#assignedAt = performance.now();
    this.#wakeAfter(this.#options.config.transaction.commitIntervalMs);
  }

  /** Drops what closed lanes completed. */
  dropClosed(open: ReadonlySet<Lane>): void {
    this.#ready = this.#ready.filter(({ lane }) => open.has(lane));
  }

  /** Everything is back at the committed offsets; returns the record that the last abort was due to, if it is known. */
  rewound(): Culprit | null {
    const culprit = this.#culprit;
    const unknown = this.#unknown;
    this.#clear();
    this.#mustRewind = false;
    this.#culprit = null;
    this.#unknown = null;
    if (unknown?.transaction.isCommitted === true) this.#committed(unknown);
    else if (unknown) this.#options.observer.aborted(unknown.reason, unknown.error);
    return culprit;
  }

  fail(message: string, { cause, isFinal = true }: { cause?: unknown; isFinal?: boolean } = {}): void {
    const { kind, name } = this.#options.config;
    this.#failure ??= new PipelineFailed(`${kind} ${name}: ${message}`, { cause, isFinal });
    this.#options.wake();
  }

  /** Fills the transaction, and ends it when it is due. */
  step(): void {
    // A process that stood still may have lost its partitions without having been told: what it holds is not trusted.
    this.#watch();
    this.#write();
    if (this.#isDue()) this.#settle(() => this.#commit());
  }

  /** Ends the transaction now, before partitions are given up; an abort where they are lost already. */
  async end(lost: boolean): Promise<void> {
    await this.#settling;
    const { writer } = this.#options;
    // What is done with outside of Kafka would be done again.
    if (!lost) this.#write();
    if (!writer.isOpen || writer.transaction.size === 0) return;
    if (!lost) await this.#flushBacklog();
    this.#settle(() => (lost ? writer.abort('lost') : this.#commit()));
    await this.#settling;
  }

  #limits() {
    return { maxRecords: this.#isolation.limit, maxBytes: this.#options.config.transaction.maxBytes };
  }

  #write(): void {
    const { writer, config } = this.#options;
    if (!writer.isOpen || this.#mustRewind) return;
    writer.flush();
    if (this.#ready.length === 0 || writer.hasBacklog) return;
    const wasEmpty = writer.transaction.size === 0;
    // What waited for the last transaction to settle has begun to wait for its commit then. Where so much waited that
    // more was held back, large transactions matter more.
    const since = this.#ready.length < READY_SETTLING ? this.#readySince : performance.now();
    const taken = writer.write(this.#ready, this.#limits());
    // Not exact while some are left over: their bytes are counted when they are gone.
    if (taken === this.#ready.length) {
      this.#clear();
    } else if (taken > 0) {
      this.#ready = this.#ready.slice(taken);
      this.#readySince = performance.now();
    }
    if (wasEmpty && taken > 0) {
      this.#fillingSince = since;
      this.#wakeAfter(Math.max(0, since + config.transaction.commitIntervalMs - performance.now()));
    }
  }

  #clear(): void {
    this.#ready = [];
    this.#readyBytes = 0;
  }

  #wakeAfter(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#options.wake, ms);
  }

  #isDue(): boolean {
    const { writer, config, unpinned } = this.#options;
    if (this.#settling || this.#mustRewind || !writer.isOpen) return false;
    if (writer.isDoomed || this.#stale) return true;
    if (writer.hasBacklog) return false;
    const { transaction } = writer;
    const { commitIntervalMs } = config.transaction;
    const now = performance.now();
    if (transaction.size === 0) return now - this.#assignedAt >= commitIntervalMs && unpinned().length > 0;
    return transaction.isFull(this.#limits()) || now - this.#fillingSince >= commitIntervalMs;
  }

  #watch(): void {
    if (this.#freeze.check() && ++this.#staleInARow <= MAX_STALE) this.#stale = true;
  }

  #commit(): Promise<Outcome> {
    const { writer, unpinned } = this.#options;
    this.#watch();
    if (!this.#stale) return writer.commit(unpinned());
    this.#stale = false;
    return writer.abort('stale');
  }

  /** Runs one end of a transaction beside the loop. */
  #settle(end: () => Promise<Outcome>): void {
    this.#settling = end()
      .then((outcome) => {
        this.#apply(outcome);
      })
      .catch((error: unknown) => {
        if (error instanceof PipelineFailed) this.#failure ??= error;
        else if (!this.#options.signal.aborted) {
          const isFinal = error instanceof ClientError && error.isFinal;
          this.fail(error instanceof Error ? error.message : String(error), { cause: error, isFinal });
        }
      })
      .finally(() => {
        this.#settling = null;
        this.#options.wake();
      });
  }

  #apply(outcome: Outcome): void {
    if (outcome.kind === 'committed') {
      this.#staleInARow = 0;
      this.#isolation.committed();
      this.lastCommit = performance.now();
      this.#committed(outcome);
      return;
    }
    this.#mustRewind = true;
    this.#clear();
    this.#assignedAt = performance.now(); // starts that are still to be committed wait for another interval
    if (outcome.kind === 'unknown') {
      this.#unknown = outcome;
      return;
    }
    const { transaction, reason, error, batchBytes } = outcome;
    this.#options.observer.aborted(reason, error);
    if (error?.kind === 'rejected') this.#culprit = this.#isolation.rejected(transaction, error, batchBytes);
  }

  #committed({ transaction, durationMs }: { transaction: Transaction; durationMs: number }): void {
    const records = transaction.settle();
    const deadLettered = new Map<string, number>();
    for (const { lane, offset, deadLetter } of transaction.deadLetters) {
      this.#options.verdicts.settled(lane, offset);
      if (deadLetter !== null) deadLettered.set(deadLetter, (deadLettered.get(deadLetter) ?? 0) + 1);
    }
    if (transaction.size === 0) return;
    const { produced, filtered, timestamps } = transaction;
    const at = Date.now();
    this.#options.observer.committed({ records, produced, filtered, deadLettered, timestamps, at, durationMs });
  }

  async #flushBacklog(): Promise<void> {
    const { writer, signal } = this.#options;
    while (writer.hasBacklog && !writer.isDoomed) {
      await delay(2, undefined, { signal });
      writer.flush();
    }
  }
}
