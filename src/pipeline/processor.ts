import { setTimeout as delay } from 'node:timers/promises';
import type { FlowConfig } from '../config/compiled.ts';
import { Assignment } from './assignment.ts';
import { TransactionCycle } from './cycle.ts';
import { PipelineFailed } from './errors.ts';
import type { Culprit } from './isolation.ts';
import type { CreateLane, LaneContext } from './lane.ts';
import type { Observer, PipelineStatus } from './observer.ts';
import { ClientError, type Consumer, type Polled, type TopicPartition } from './ports.ts';
import { LogWatch } from './log-watch.ts';
import { type Rebalance, Rebalances } from './rebalances.ts';
import { lagOf, partitionStatuses, unreadyReasons } from './status.ts';
import { Verdicts } from './verdicts.ts';
import { TransactionWriter, type WriterOptions } from './writer.ts';

export interface ProcessorOptions {
  config: FlowConfig;
  consumer: Consumer;
  createProducer: WriterOptions['createProducer'];
  createLane: CreateLane;
  /** What is outside of Kafka, for an effect. */
  target?: Target;
  deadLetter: LaneContext['deadLetter'];
  observer: Observer;
  /** The process's name: begins the attempt header where the configuration asks for provenance. */
  instance: string;
}

/** A database or a service that an effect is applied to. */
export interface Target {
  /** Resolves when it can be used; waits for it as long as it takes, or until `signal` aborts. @throws PipelineFailed */
  open(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /** Why it can't be used yet, or null. */
  readonly unready: string | null;
  /** How long to wait for what is under way there before partitions are given up. */
  readonly patienceMs: number;
}

const POLL_RECORDS = 1_000;
const POLL_WAIT_MS = 50;
/** How soon to look again when the client's queue was full. */
const BACKLOG_WAIT_MS = 2;
/** How long to let the group wait while as much is buffered as may be. */
const FULL_WAIT_MS = 20;
/**
 * Longer than the 5 s after which the client gives up leaving the group. In the middle of a rebalance it does: the
 * broker does not read on behind a request to join that it has not answered.
 */
const CLOSE_MS = 7_000;
const LOOK_AROUND_MS = 1_000;
/** A commit takes milliseconds; a writer that is not open for this long is waiting for brokers. */
const RECOVERY_MS = 10_000;

/**
 * One pipeline in one process: a loop that polls, lets the lanes transform, and has what they completed written.
 *
 *   starting ──▶ running ──stop()──▶ draining ──▶ stopped
 *      └────────────┴─── PipelineFailed ──▶ failed
 *
 * Everything that touches the lanes or the transaction happens in the loop's own step. A rebalance is queued and
 * answered there, between two transactions; after an abort nothing is accepted until the step in which no poll is in
 * flight has moved every partition back to its committed offset. What the brokers can't answer now is asked again in
 * the next round, so that polling, and with it the membership, goes on.
 */
export class Processor {
  readonly #options: ProcessorOptions;
  readonly #writer: TransactionWriter;
  readonly #cycle: TransactionCycle;
  readonly #assignment: Assignment;
  readonly #logs: LogWatch;
  readonly #rebalances: Rebalances;
  readonly #verdicts = new Verdicts();
  readonly #forced = new AbortController();
  #state: PipelineStatus['state'] = 'starting';
  #stopping = false;
  #joined = false;
  /** `performance.now()` when things that change slowly were last looked at. */
  #lookedAround = 0;
  #closed = false;

  constructor(options: ProcessorOptions) {
    const { config, consumer, observer, createProducer } = options;
    const { signal } = this.#forced;
    const wake = () => {
      consumer.wake();
    };
    this.#options = options;
    this.#rebalances = new Rebalances(wake);
    this.#writer = new TransactionWriter({
      createProducer,
      consumer,
      observer,
      transactionalId: config.transactionalId,
      transactionTimeoutMs: config.transaction.timeoutMs,
      // Two lives of one instance must not look alike, hence the time.
      provenance: config.provenance ? `${options.instance}/${Date.now().toString(36)}` : null,
      signal,
    });
    this.#cycle = new TransactionCycle({
      config,
      observer,
      verdicts: this.#verdicts,
      writer: this.#writer,
      unpinned: () => this.#assignment.unpinned,
      wake,
      signal,
    });
    this.#logs = new LogWatch({
      consumer,
      observer,
      onDataLoss: config.input.onDataLoss,
      lanes: () => this.#assignment.lanes,
      fail: (message) => {
        this.#cycle.fail(message);
      },
    });
    this.#assignment = new Assignment(consumer, options.createLane, this.#laneContext(wake), config.input.startAt);
  }

  #laneContext(wake: () => void): LaneContext {
    const { config, observer, deadLetter } = this.#options;
    return {
      retry: config.retry,
      observer,
      verdicts: this.#verdicts,
      maxPollIntervalMs: config.group.maxPollIntervalMs,
      stopsOnError: config.onError === 'stop',
      deadLetter,
      maxRecordBytes: () => this.#writer.maxRecordBytes,
      hasRoom: () => this.#cycle.hasRoom && !this.#stopping,
      complete: (completed) => {
        this.#cycle.complete(completed);
      },
      wake,
      stop: (error, record) => {
        this.#stopAt(record, record.offset, error);
      },
    };
  }

  /** Runs until stop() or a failure; everything is closed when it settles. @throws PipelineFailed */
  async run(): Promise<void> {
    const { consumer } = this.#options;
    const { signal } = this.#forced;
    try {
      await this.#options.target?.open(signal);
      await this.#writer.open();
      this.#cycle.start();
      await consumer.start(this.#rebalances, signal);
      this.#state = 'running';
      await this.#loop();
      this.#state = 'draining';
      await this.#drain();
      this.#state = 'stopped';
    } catch (error) {
      this.#state = this.#stopping && signal.aborted ? 'stopped' : 'failed';
      this.#rebalances.close();
      await this.#close(this.#writer.abandon());
      if (this.#state === 'stopped') return;
      if (!(error instanceof ClientError)) throw error;
      const { kind, name } = this.#options.config;
      throw new PipelineFailed(`${kind} ${name}: ${error.message}`, { cause: error, isFinal: error.isFinal });
    } finally {
      this.#cycle.stop();
    }
  }

  /** Finishes the open transaction, leaves the group and lets run() return. */
  stop(): void {
    this.#stopping = true;
    // Nothing is open before the loop runs: whatever is being waited for may be dropped.
    if (this.#state === 'starting') this.#forced.abort(new Error('stopped while starting'));
    this.#options.consumer.wake();
  }

  async #loop(): Promise<void> {
    const { consumer } = this.#options;
    let polling = consumer.poll(POLL_RECORDS, 0);
    while (!this.#stopping) {
      await this.#receive(polling);
      await this.#answerRebalances();
      if (this.#cycle.mustRewind && !this.#cycle.isSettling) await this.#rewind();
      // While this batch is worked on, the next is fetched.
      polling = this.#poll();
      for (const lane of this.#assignment.lanes) lane.pump();
      this.#assignment.regulate();
      this.#cycle.step();
    }
    await polling;
  }

  /** Apart from the loop, whose frame would keep each batch alive until the next one is there. */
  async #receive(polling: Promise<Polled>): Promise<void> {
    const { records, ends } = await polling;
    this.#check();
    if (this.#cycle.mustRewind) return;
    this.#assignment.accept(records, (topic, count) => {
      this.#options.observer.consumed(topic, count);
    });
    this.#assignment.acceptEnds(ends);
    records.length = 0; // what the client's promise still holds, too
    // What the group asks is answered first.
    if (this.#logs.isDue && !this.#rebalances.next) {
      await this.#reached(() => {
        this.#logs.pass();
      });
    }
  }

  async #poll(): Promise<Polled> {
    const { consumer } = this.#options;
    try {
      if (!this.#cycle.hasRoom && !this.#cycle.mustRewind) return await consumer.idle(FULL_WAIT_MS);
      return await consumer.poll(POLL_RECORDS, this.#writer.hasBacklog ? BACKLOG_WAIT_MS : POLL_WAIT_MS);
    } catch (error) {
      if (!(error instanceof ClientError) || error.kind !== 'out-of-range') throw error;
      this.#logs.outOfRange();
      return { records: [], ends: [] };
    }
  }

  #check(): void {
    if (this.#cycle.failure) throw this.#cycle.failure;
    const now = performance.now();
    if (now - this.#lookedAround < LOOK_AROUND_MS) return;
    this.#lookedAround = now;
    // Nothing to do counts as progress.
    if (this.#assignment.lanes.every((lane) => lagOf(lane, this.#options.consumer) === 0)) this.#cycle.lastCommit = now;
    this.#logs.look();
  }

  /** Back to the committed offsets. No poll is in flight here; what the last one returned was not accepted. */
  async #rewind(): Promise<void> {
    if (!(await this.#reached(() => this.#assignment.rewind(this.#logs.hasStopped)))) return;
    const culprit = this.#cycle.rewound();
    if (culprit) this.#convict(culprit);
  }

  #convict({ lane, offset, error, action }: Culprit): void {
    const { retry, onError } = this.#options.config;
    if (action === 'dead-letter') this.#verdicts.set(lane, offset, { error, attempts: 1 });
    else if (onError === 'stop') this.#stopAt(lane, offset, error);
    else lane.hold(offset, error, retry.attempts, error.message);
  }

  #stopAt({ topic, partition }: TopicPartition, offset: number, error: Error): void {
    this.#cycle.fail(`${topic}-${partition} offset ${offset}: ${error.message}; onError is "stop"`, { cause: error });
  }

  /** Partitions change hands between two transactions only. */
  async #answerRebalances(): Promise<void> {
    for (let next = this.#rebalances.next; next && !this.#cycle.isSettling; next = this.#rebalances.next) {
      const rebalance = next;
      if (!(await this.#reached(() => this.#answer(rebalance)))) return;
      this.#rebalances.answered(rebalance);
    }
  }

  /** False where the brokers could not be reached: the loop goes round, polling, and tries again. */
  async #reached(ask: () => unknown): Promise<boolean> {
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
    const { observer } = this.#options;
    const { partitions } = rebalance;
    if (rebalance.kind === 'assigned') {
      const start = await this.#assignment.open(partitions);
      this.#joined = true;
      this.#cycle.assigned();
      observer.assigned(partitions);
      rebalance.answer(start);
      return;
    }
    // 1. revoked  2. unassigned, rejoined  3. offsets sent: they would carry the new generation and not be fenced.
    // Hence the transaction ends here, before the answer.
    if (rebalance.kind === 'revoked') await this.#quiet(partitions);
    await this.#cycle.end(rebalance.kind === 'lost');
    this.#assignment.close(partitions);
    this.#cycle.dropClosed(new Set(this.#assignment.lanes));
    if (rebalance.kind === 'lost') {
      this.#joined = false; // until the group takes this member back
      observer.lost(partitions);
    } else {
      observer.revoked(partitions);
    }
    rebalance.answer();
  }

  /** Lets what is under way outside of Kafka end, so that it can be committed. */
  async #quiet(partitions: readonly TopicPartition[]): Promise<void> {
    const { target } = this.#options;
    if (!target) return;
    const given = this.#assignment.lanes.filter((lane) =>
      partitions.some(({ topic, partition }) => lane.topic === topic && lane.partition === partition),
    );
    const quiet = Promise.all(given.map((lane) => lane.quiet()));
    await Promise.race([quiet, delay(target.patienceMs, undefined, { ref: false })]);
  }

  async #drain(): Promise<void> {
    await this.#quiet(this.#assignment.lanes);
    if (!this.#cycle.mustRewind) await this.#cycle.end(false);
    if (this.#cycle.failure) throw this.#cycle.failure;
    this.#rebalances.close();
    await this.#close(this.#writer.close());
  }

  /** A call into the client that hangs is not waited for longer than is polite. */
  async #close(writer: Promise<void>): Promise<void> {
    const { consumer, target } = this.#options;
    const closed = Promise.allSettled([consumer.close(), writer, target?.close()]).then(() => {
      this.#closed = true;
    });
    await Promise.race([closed, delay(CLOSE_MS)]);
  }

  /** False where a call into the client has not returned, even though run() has. */
  get isClosed(): boolean {
    return this.#closed;
  }

  status(): PipelineStatus {
    const { config, consumer, target } = this.#options;
    const partitions = partitionStatuses(this.#assignment.lanes, consumer);
    const now = performance.now();
    const sinceCommitMs = now - this.#cycle.lastCommit;
    const reasons =
      this.#state === 'running' || this.#state === 'starting'
        ? unreadyReasons(partitions, {
            joined: this.#joined,
            unreached: consumer.unreached(),
            recovering: !this.#writer.isOpen && sinceCommitMs > RECOVERY_MS,
            sinceCommitMs,
            commitIntervalMs: config.transaction.commitIntervalMs,
          })
        : [`is ${this.#state}`];
    if (target?.unready != null) reasons.push(target.unready);
    const { name: pipeline, worker } = config;
    return { pipeline, worker, state: this.#state, ready: reasons.length === 0, reasons, partitions };
  }
}
