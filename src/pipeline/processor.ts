import { setTimeout as delay } from 'node:timers/promises';
import type { PipelineConfig } from '../config/compiled.ts';
import { Assignment } from './assignment.ts';
import { PipelineFailed } from './errors.ts';
import { FreezeWatch } from './freeze.ts';
import { type Culprit, Isolation } from './isolation.ts';
import type { Completed, LaneContext } from './lane.ts';
import type { Observer, PipelineStatus } from './observer.ts';
import {
  ClientError,
  type Consumer,
  type InputRecord,
  type OutputRecord,
  type Producer,
  type RecordTransform,
  type TopicPartition,
} from './ports.ts';
import { type Rebalance, Rebalances } from './rebalances.ts';
import { partitionStatuses, unreadyReasons } from './status.ts';
import { Verdicts } from './verdicts.ts';
import { type Outcome, TransactionWriter } from './writer.ts';

export interface ProcessorOptions {
  config: PipelineConfig;
  consumer: Consumer;
  createProducer: (batchBytes: number) => Producer;
  transform: RecordTransform;
  deadLetter: (record: InputRecord, error: Error, attempts: number) => OutputRecord | null;
  observer: Observer;
  /** Begins the `millrace-attempt` header where the configuration asks for one. */
  instance: string;
}

const POLL_RECORDS = 1_000;
const POLL_WAIT_MS = 50;
/** Completed records that may wait for their transaction, so that a commit does not stop the transforms. */
const READY_RECORDS = 20_000;
const CLOSE_MS = 5_000;
/** A commit takes milliseconds; a writer that is not open for this long is waiting for brokers. */
const RECOVERY_MS = 10_000;

/**
 * One pipeline in one process: a loop that polls, lets the lanes transform, and writes what they completed into a
 * transaction per commit interval.
 *
 *   starting ──▶ running ──stop()──▶ draining ──▶ stopped
 *      └────────────┴─── PipelineFailed ──▶ failed
 *
 * Everything that touches the transaction or the lanes happens in the loop's own step: a rebalance is queued and
 * answered there, between two transactions. A commit runs beside the loop, which goes on polling and transforming
 * meanwhile; what the lanes complete waits in `#ready`. After an abort `#mustRewind` is set: nothing is accepted until the
 * step in which no poll is in flight has moved every partition back to its committed offset.
 */
export class Processor {
  readonly #options: ProcessorOptions;
  readonly #writer: TransactionWriter;
  readonly #assignment: Assignment;
  readonly #verdicts = new Verdicts();
  readonly #isolation: Isolation;
  readonly #freeze: FreezeWatch;
  readonly #forced = new AbortController();
  #state: PipelineStatus['state'] = 'starting';
  #ready: Completed[] = [];
  #settling: Promise<void> | null = null;
  readonly #rebalances: Rebalances;
  #culprit: Culprit | null = null;
  #mustRewind = false;
  #stale = false;
  #staleInARow = 0;
  #stopping = false;
  #joined = false;
  #failure: PipelineFailed | null = null;
  #assignedAt = 0;
  #lastCommit = performance.now();
  #commitTimer: NodeJS.Timeout | null = null;

  constructor(options: ProcessorOptions) {
    const { config, consumer, observer, createProducer } = options;
    this.#options = options;
    this.#isolation = new Isolation(config.transaction.maxRecords);
    this.#freeze = new FreezeWatch(config.group.sessionTimeoutMs);
    this.#rebalances = new Rebalances(() => {
      consumer.wake();
    });
    this.#writer = new TransactionWriter({
      createProducer,
      consumer,
      observer,
      transactionalId: config.transactionalId,
      transactionTimeoutMs: config.transaction.timeoutMs,
      // Two lives of one instance must not look alike, hence the time.
      provenance: config.provenance ? `${options.instance}/${Date.now().toString(36)}` : null,
      signal: this.#forced.signal,
    });
    this.#assignment = new Assignment(consumer, this.#laneContext(), config.input.startAt);
  }

  #laneContext(): LaneContext {
    const { config, transform, observer, deadLetter, consumer } = this.#options;
    return {
      transform,
      retry: config.retry,
      observer,
      verdicts: this.#verdicts,
      maxPollIntervalMs: config.group.maxPollIntervalMs,
      stopsOnError: config.onError === 'stop',
      deadLetter,
      maxRecordBytes: () => this.#writer.maxRecordBytes,
      hasRoom: () => this.#ready.length < READY_RECORDS && !this.#mustRewind && !this.#stopping,
      complete: (completed) => {
        if (!this.#mustRewind) this.#ready.push(completed);
      },
      wake: () => {
        consumer.wake();
      },
      stop: (error, record) => {
        this.#stopAt(record, record.offset, error);
      },
    };
  }

  /** Runs until stop() or a failure; everything is closed when it settles. @throws PipelineFailed */
  async run(): Promise<void> {
    const { consumer } = this.#options;
    try {
      await this.#writer.open();
      if (!this.#stopping) {
        this.#freeze.start();
        await consumer.start(this.#rebalances, this.#forced.signal);
        this.#state = 'running';
        await this.#loop();
      }
      this.#state = 'draining';
      await this.#drain();
      this.#state = 'stopped';
    } catch (error) {
      if (this.#forced.signal.aborted) return;
      this.#state = 'failed';
      await this.#closeDirty();
      throw error;
    } finally {
      this.#freeze.stop();
      if (this.#commitTimer) clearTimeout(this.#commitTimer);
    }
  }

  /** Finishes the open transaction, leaves the group and lets run() return. */
  stop(): void {
    this.#stopping = true;
    if (this.#state === 'starting') this.#forced.abort(new Error('stopped while starting'));
    this.#options.consumer.wake();
  }

  /** Gives up waiting for anything; what is open is left to the broker and to the successor. */
  force(): void {
    this.#stopping = true;
    this.#forced.abort(new Error('forced to stop'));
    this.#options.consumer.wake();
  }

  async #loop(): Promise<void> {
    const { consumer } = this.#options;
    let polling = consumer.poll(POLL_RECORDS, 0);
    while (!this.#stopping) {
      const records = await polling;
      this.#watch();
      if (!this.#mustRewind) {
        this.#assignment.accept(records, (topic, count) => {
          this.#options.observer.consumed(topic, count);
        });
      }
      await this.#answerRebalances();
      if (this.#mustRewind && !this.#settling) await this.#rewind();
      // While this batch is worked on, the next is fetched.
      polling = consumer.poll(POLL_RECORDS, this.#writer.hasBacklog ? 2 : POLL_WAIT_MS);
      this.#step();
    }
    await polling;
    if (this.#failure) throw this.#failure;
  }

  #step(): void {
    for (const lane of this.#assignment.lanes) lane.pump();
    this.#assignment.regulate();
    this.#write();
    if (this.#isDue()) this.#settle(() => this.#commit());
  }

  #limits() {
    const { maxBytes } = this.#options.config.transaction;
    return { maxRecords: this.#isolation.limit, maxBytes };
  }

  #write(): void {
    const writer = this.#writer;
    if (!writer.isOpen || this.#mustRewind) return;
    writer.flush();
    if (this.#ready.length === 0 || writer.hasBacklog) return;
    const wasEmpty = writer.transaction.size === 0;
    const taken = writer.write(this.#ready, 0, this.#limits());
    if (taken === this.#ready.length) this.#ready = [];
    else if (taken > 0) this.#ready.splice(0, taken);
    if (wasEmpty && taken > 0) this.#commitAfter(this.#options.config.transaction.commitIntervalMs);
  }

  #commitAfter(ms: number): void {
    if (this.#commitTimer) clearTimeout(this.#commitTimer);
    this.#commitTimer = setTimeout(() => {
      this.#options.consumer.wake();
    }, ms);
  }

  #isDue(): boolean {
    const writer = this.#writer;
    if (this.#settling || this.#mustRewind || !writer.isOpen) return false;
    if (writer.isDoomed || this.#stale) return true;
    if (writer.hasBacklog) return false;
    const { transaction } = writer;
    const { commitIntervalMs } = this.#options.config.transaction;
    const now = performance.now();
    if (transaction.size === 0) return this.#unpinned().length > 0 && now - this.#assignedAt >= commitIntervalMs;
    return transaction.isFull(this.#limits()) || now - transaction.openedAt >= commitIntervalMs;
  }

  #unpinned() {
    return this.#assignment.lanes.filter((lane) => !lane.pinned);
  }

  /** A process that stood still may have lost its partitions without having been told: what it holds is not to be trusted. */
  #watch(): void {
    if (this.#failure) throw this.#failure;
    // A transform that holds the event loop looks the same; to abort for it again and again would never end.
    if (this.#freeze.check() && ++this.#staleInARow <= 2) this.#stale = true;
    const truncated = this.#assignment.truncated();
    if (!truncated) return;
    // Going on somewhere else would hide the loss.
    const { lane, logStart } = truncated;
    throw this.#failed(
      `${lane.topic}-${lane.partition} begins at offset ${logStart} now, but the group has committed ${lane.committed}: ` +
        `records were deleted before they were processed. To accept the loss, reset the group's offsets ` +
        `(kafka-consumer-groups --reset-offsets) and start again`,
    );
  }

  #commit(): Promise<Outcome> {
    if (this.#freeze.check() && ++this.#staleInARow <= 2) this.#stale = true;
    if (!this.#stale) return this.#writer.commit(this.#unpinned());
    this.#stale = false;
    return this.#writer.abort('stale');
  }

  /** Runs one end of a transaction beside the loop. */
  #settle(end: () => Promise<Outcome>): void {
    this.#settling = end()
      .then((outcome) => {
        this.#apply(outcome);
      })
      .catch((error: unknown) => {
        this.#failure = error instanceof PipelineFailed ? error : this.#failed(String(error), error);
      })
      .finally(() => {
        this.#settling = null;
        this.#options.consumer.wake();
      });
  }

  #failed(message: string, cause?: unknown): PipelineFailed {
    return new PipelineFailed(`pipeline ${this.#options.config.name}: ${message}`, { cause });
  }

  #apply(outcome: Outcome): void {
    const { observer } = this.#options;
    const { transaction } = outcome;
    if (outcome.kind === 'aborted') {
      this.#mustRewind = true;
      this.#ready = [];
      observer.aborted(outcome.reason, outcome.error);
      if (outcome.error?.kind === 'rejected') this.#culprit = this.#isolation.rejected(transaction, outcome.error);
      return;
    }
    this.#staleInARow = 0;
    this.#isolation.committed();
    this.#lastCommit = performance.now();
    const records = transaction.settle();
    const deadLettered = new Map<string, number>();
    for (const { lane, offset, deadLetter } of transaction.deadLetters) {
      this.#verdicts.settled(lane, offset);
      if (deadLetter !== null) deadLettered.set(deadLetter, (deadLettered.get(deadLetter) ?? 0) + 1);
    }
    if (transaction.size === 0) return;
    const { produced, filtered, timestamps } = transaction;
    const at = Date.now();
    const durationMs = outcome.durationMs;
    observer.committed({ records, produced, filtered, deadLettered, timestamps, at, durationMs });
  }

  /** Back to the committed offsets. No poll is in flight here; what the last one returned was not accepted. */
  async #rewind(): Promise<void> {
    if (!(await this.#reached(() => this.#assignment.rewind()))) return;
    this.#ready = [];
    this.#mustRewind = false;
    if (this.#culprit) this.#convict(this.#culprit);
    this.#culprit = null;
  }

  #convict({ lane, offset, error, action }: Culprit): void {
    const { retry, onError } = this.#options.config;
    if (action === 'dead-letter') this.#verdicts.set(lane, offset, { error, attempts: 1 });
    else if (onError === 'stop') this.#stopAt(lane, offset, error);
    else lane.hold(offset, error, retry.attempts, error.message);
  }

  #stopAt({ topic, partition }: TopicPartition, offset: number, error: Error): void {
    this.#failure ??= this.#failed(
      `${topic}-${partition} offset ${offset}: ${error.message}; onError is "stop"`,
      error,
    );
    this.#options.consumer.wake();
  }

  /** Partitions change hands between two transactions only. */
  async #answerRebalances(): Promise<void> {
    for (let next = this.#rebalances.next; next && !this.#settling; next = this.#rebalances.next) {
      const rebalance = next;
      if (!(await this.#reached(() => this.#answer(rebalance)))) return;
      this.#rebalances.answered();
    }
  }

  /** False where the brokers could not be reached: the loop goes round, polling, and tries again. */
  async #reached(ask: () => Promise<void>): Promise<boolean> {
    try {
      await ask();
      return true;
    } catch (error) {
      if (!(error instanceof ClientError) || error.kind === 'denied') throw error;
      this.#options.observer.clientError('consumer', error);
      return false;
    }
  }

  async #answer(rebalance: Rebalance): Promise<void> {
    const { observer, config } = this.#options;
    const { partitions } = rebalance;
    if (rebalance.kind === 'assigned') {
      const start = await this.#assignment.open(partitions);
      this.#joined = true;
      this.#assignedAt = performance.now();
      this.#commitAfter(config.transaction.commitIntervalMs);
      observer.assigned(partitions);
      rebalance.answer(start);
      return;
    }
    // 1. revoked  2. unassigned, rejoined  3. offsets sent: they would carry the new generation and not be fenced.
    // Hence the transaction ends here, before the answer.
    if (this.#writer.isOpen && this.#writer.transaction.size > 0) {
      const lost = rebalance.kind === 'lost';
      await this.#flushBacklog();
      this.#settle(() => (lost ? this.#writer.abort('lost') : this.#commit()));
      await this.#settling;
    }
    this.#assignment.close(partitions);
    this.#ready = this.#ready.filter(({ lane }) => this.#assignment.lanes.includes(lane));
    if (rebalance.kind === 'lost') observer.lost(partitions);
    else observer.revoked(partitions);
    rebalance.answer();
  }

  async #flushBacklog(): Promise<void> {
    while (this.#writer.hasBacklog && !this.#writer.isDoomed) {
      await delay(2, undefined, { signal: this.#forced.signal });
      this.#writer.flush();
    }
  }

  async #drain(): Promise<void> {
    await this.#settling;
    const writer = this.#writer;
    if (writer.isOpen && !this.#failure && !this.#mustRewind && writer.transaction.size > 0) {
      await this.#flushBacklog();
      this.#settle(() => this.#commit());
      await this.#settling;
    }
    this.#rebalances.close();
    await this.#options.consumer.close();
    await writer.close();
    if (this.#failure) throw this.#failure;
  }

  /** After a failure: nothing is waited for longer than it takes to be polite. */
  async #closeDirty(): Promise<void> {
    this.#rebalances.close();
    const { consumer } = this.#options;
    const closing = Promise.allSettled([consumer.close(), this.#writer.abandon()]);
    await Promise.race([closing, delay(CLOSE_MS, undefined, { ref: false })]);
  }

  status(): PipelineStatus {
    const { config, consumer } = this.#options;
    const partitions = partitionStatuses(this.#assignment.lanes, consumer);
    const now = performance.now();
    if (partitions.every(({ lag }) => lag === 0)) this.#lastCommit = now;
    const reasons =
      this.#state === 'running' || this.#state === 'starting'
        ? unreadyReasons(partitions, {
            joined: this.#joined,
            connected: consumer.connected(),
            recovering: !this.#writer.isOpen && now - this.#lastCommit > RECOVERY_MS,
            sinceCommitMs: now - this.#lastCommit,
            commitIntervalMs: config.transaction.commitIntervalMs,
          })
        : [`is ${this.#state}`];
    return { pipeline: config.name, state: this.#state, ready: reasons.length === 0, reasons, partitions };
  }
}
