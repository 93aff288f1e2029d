import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterConfig } from '../config/compiled.ts';
import { ClientError } from '../pipeline/ports.ts';
import type { Needs } from './denials.ts';
import { classify, CONCURRENT_TRANSACTIONS } from './errors.ts';
import { type Metadata, type ProducerClient, promised } from './native.ts';
import { type Address, type Ask, openConnection } from './wire/connection.ts';
import { isForClientOnly } from './wire/sasl.ts';
import {
  addOffsets,
  addPartitions,
  endTransaction,
  findTransactionCoordinator,
  initProducerId,
  type ProducerIdentity,
  transactionState,
} from './wire/transactions.ts';

export interface LastEndOptions {
  readonly cluster: ClusterConfig;
  readonly clientId: string;
  readonly needs: Needs;
  readonly report: (error: Error) => void;
}

type Outcome = 'commit' | 'abort';

/** By the broker's name for the state. A transaction that still goes on is ended by who opens a producer next. */
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  PrepareCommit: 'commit',
  CompleteCommit: 'commit',
  PrepareEpochFence: 'abort',
  PrepareAbort: 'abort',
  CompleteAbort: 'abort',
};

const CALL_MS = 3_000;
/** How long it is tried in vain while there are brokers, and how long partitions without a leader are waited for. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 20;

/**
 * Ends once more what the broker has ended, in the same way: it may have left markers out.
 *
 * The coordinator of Kafka 4.4.0 takes a partition that has no leader for one that was deleted, and counts its
 * transaction as ended there without a marker (KAFKA-20734). The partition's transaction then stays open, until the next one
 * of the same producer ends it after its own fashion: what was aborted is committed, or the other way round. A broker
 * that comes back after a crash does that with what was open, and one that its controller takes for dead for a moment, while
 * no connection is lost. As long as nothing new is written, the end can be
 * repeated: where it has its marker already, a second one changes nothing.
 */
export class LastEnd {
  readonly #options: LastEndOptions;
  readonly #isAble: boolean;
  /** Known from the first look on: a producer that is opened hides how the last transaction ended. */
  #outcome: Outcome | null = null;
  #producer: ProducerIdentity | null = null;
  /** `performance.now()` when it failed first, although there were brokers. */
  #failing: number | null = null;

  constructor(options: LastEndOptions) {
    this.#options = options;
    const { sasl } = options.cluster;
    this.#isAble = sasl === null || !isForClientOnly(sasl);
  }

  /**
   * To be called before a producer is opened.
   * @throws ClientError of kind `retriable`: it is to be called again.
   */
  async repeat(client: ProducerClient, signal: AbortSignal): Promise<void> {
    if (!this.#isAble) return;
    const cluster = await this.#described(client);
    const now = performance.now();
    const isPatient = now - (this.#failing ?? now) < PATIENCE_MS;
    try {
      const isLed = this.#written(cluster).every(({ partitions }) => partitions.every(({ leader }) => leader >= 0));
      if (isLed || !isPatient) await this.#end(cluster, signal);
      else throw new Error('a partition has no leader');
    } catch (error) {
      signal.throwIfAborted();
      // The coordinator is on its way: no producer could be opened either.
      if (error instanceof ClientError && error.kind === 'retriable') throw error;
      if (!(error instanceof ClientError)) this.#giveUp(error, now, isPatient);
      // What else there is, the client meets next, and says it better.
    }
    this.#outcome = null;
    this.#producer = null;
    this.#failing = null;
  }

  /** @throws ClientError while there is patience left. */
  #giveUp(error: unknown, now: number, isPatient: boolean): void {
    const reason = error instanceof Error ? error.message : String(error);
    const { transactionalId } = this.#options.needs;
    const failure = new ClientError(`the end of the last transaction of ${transactionalId}: ${reason}`, 'retriable', 0);
    this.#failing ??= now;
    if (isPatient) throw failure;
    this.#options.report(failure);
  }

  async #described(client: ProducerClient): Promise<Metadata> {
    try {
      return await promised<Metadata>((done) => {
        client.getMetadata({ allTopics: true, timeout: CALL_MS }, done);
      });
    } catch (error) {
      this.#failing = null; // without a broker there is nothing to give up
      throw classify(error, 'looking for the partitions to write to');
    }
  }

  #written({ topics }: Metadata): Metadata['topics'] {
    const { needs } = this.#options;
    const written = new Set(needs.topics.filter(({ operation }) => operation === 'Write').map(({ topic }) => topic));
    return topics.filter(({ name }) => written.has(name));
  }

  async #end(cluster: Metadata, signal: AbortSignal): Promise<void> {
    const { transactionalId, groupId, transactionTimeoutMs } = this.#options.needs;
    const [broker] = cluster.brokers;
    if (!broker) throw new Error('the cluster names no broker');
    const coordinator = await this.#connected(broker, signal, (ask) =>
      findTransactionCoordinator(ask, transactionalId),
    );
    await this.#connected(coordinator, signal, async (ask) => {
      this.#outcome ??= OUTCOMES[(await transactionState(ask, transactionalId)) ?? ''] ?? null;
      const outcome = this.#outcome;
      if (outcome === null) return;
      this.#producer ??= await untilEnded(() => initProducerId(ask, transactionalId, transactionTimeoutMs), signal);
      const producer = this.#producer;
      const partitions = new Map(this.#written(cluster).map(({ name, partitions }) => [name, led(partitions)]));
      await addPartitions(ask, producer, partitions);
      await addOffsets(ask, producer, groupId);
      await endTransaction(ask, producer, outcome);
    });
  }

  async #connected<T>(address: Address, signal: AbortSignal, use: (ask: Ask) => Promise<T>): Promise<T> {
    const { cluster, clientId } = this.#options;
    const options = { clientId: `${clientId}.last-end`, timeoutMs: CALL_MS, signal };
    const connection = await openConnection(cluster, address, options);
    try {
      return await use(connection.ask);
    } finally {
      connection.close();
    }
  }
}

const led = (partitions: Metadata['topics'][number]['partitions']): number[] =>
  partitions.filter(({ leader }) => leader >= 0).map(({ id }) => id);

/** The markers of the last transaction may still be under way. */
async function untilEnded<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const began = performance.now();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isUnderWay = error instanceof ClientError && error.code === CONCURRENT_TRANSACTIONS;
      if (!isUnderWay || performance.now() - began > CALL_MS) throw error;
      await delay(PAUSE_MS, undefined, { signal });
    }
  }
}
