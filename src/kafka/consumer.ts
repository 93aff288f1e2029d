import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterConfig } from '../config/compiled.ts';
import type {
  Consumer,
  FetchState,
  PartitionLog,
  Polled,
  RebalanceListener,
  TopicPartition,
  TopicPartitionOffset,
} from '../pipeline/ports.ts';
import { ClientError } from '../pipeline/ports.ts';
import { clusterProperties } from './cluster-properties.ts';
import { connect } from './connect.ts';
import { explained, type Needs } from './denials.ts';
import { classify, FATAL, OFFSET_OUT_OF_RANGE } from './errors.ts';
import { type ConsumerClient, disconnected, KafkaConsumer, type NativeConf, promised } from './native.ts';
import { watchConnections } from './refusals.ts';
import { fetchStates, type Statistics } from './statistics.ts';

export interface ConsumerOptions {
  cluster: ClusterConfig;
  clientId: string;
  needs: Needs;
  topics: readonly string[];
  protocol: 'classic' | 'consumer';
  assignor: string;
  sessionTimeoutMs: number;
  maxPollIntervalMs: number;
  instanceId: string | null;
  /** librdkafka properties of the user; the configuration has refused those that would weaken the guarantee. */
  properties: Readonly<Record<string, string | number | boolean>>;
  report: (error: Error) => void;
}

const CALL_MS = 10_000;
/** A seek that comes too early after an assignment is refused; it succeeds a little later. */
const SEEK_TRIES = 100;
const SEEK_PAUSE_MS = 50;

/** The client tells of a refusal that repeats every 30 s. */
const REFUSED_MS = 20_000;

function configuration(options: ConsumerOptions): NativeConf {
  const classic =
    options.protocol === 'classic'
      ? {
          'partition.assignment.strategy': options.assignor,
          'session.timeout.ms': options.sessionTimeoutMs,
          'heartbeat.interval.ms': Math.min(3_000, Math.floor(options.sessionTimeoutMs / 3)),
        }
      : {};
  return {
    // With the default of 1,000 ms fetching stops for a second whenever the local queue is full.
    'fetch.queue.backoff.ms': 10,
    'fetch.message.max.bytes': 1 << 20,
    'queued.min.messages': 50_000,
    'queued.max.messages.kbytes': 32_768,
    'socket.timeout.ms': 30_000,
    'statistics.interval.ms': 1_000,
    ...classic,
    ...options.properties,
    // The guarantee rests on what follows: nothing may come after it.
    ...clusterProperties(options.cluster),
    'client.id': options.clientId,
    'group.id': options.needs.groupId,
    'group.protocol': options.protocol,
    ...(options.instanceId === null ? {} : { 'group.instance.id': options.instanceId }),
    'max.poll.interval.ms': options.maxPollIntervalMs,
    'isolation.level': 'read_committed', // also turns on stable offset fetching
    'enable.auto.commit': false,
    'enable.auto.offset.store': false,
    // Comes in order behind a partition's records, and none from before a seek does: what statistics say of the fetch
    // position is neither.
    'enable.partition.eof': true,
    'auto.offset.reset': 'error', // the start is chosen by the assignment; a position is never changed silently
  };
}

/** A group member on the client's callback classes. */
export class KafkaInput implements Consumer {
  readonly #options: ConsumerOptions;
  #client: ConsumerClient | null = null;
  #listener: RebalanceListener | null = null;
  /** Remembered, since the client answers NONE while it closes. */
  #cooperative = false;
  /** Rebalances are answered one after the other. */
  #rebalancing: Promise<void> = Promise.resolve();
  #statistics: Statistics = { connected: false, partitions: new Map() };
  /** Set by the client's call-back when its queue is no longer empty, and by wake(). */
  #signalled = false;
  #awaken: (() => void) | null = null;
  #failure: ClientError | null = null;
  /** `performance.now()` of the first refusal since any broker was connected. */
  #refusedSince: number | null = null;

  constructor(options: ConsumerOptions) {
    this.#options = options;
  }

  async start(listener: RebalanceListener, signal: AbortSignal): Promise<void> {
    this.#listener = listener;
    const conf = {
      ...configuration(this.#options),
      rebalance_cb: (error: { code: number }, partitions: TopicPartition[]) => {
        this.#rebalancing = this.#rebalancing.then(() => this.#rebalance(error.code, partitions));
      },
      queue_non_empty_cb: () => {
        this.wake();
      },
    };
    const create = () => {
      // The client removes what it takes out of the object.
      const client = new KafkaConsumer({ ...conf }, {});
      client.on('event.stats', (event) => {
        this.#statistics = fetchStates(event);
        if (this.#statistics.connected) this.#refusedSince = null;
      });
      return client;
    };
    const { client } = await connect(create, this.#options.cluster, signal, this.#options.report);
    watchConnections(client, (refusal) => {
      this.#refused(refusal);
    });
    this.#client = client;
    client.subscribe([...this.#options.topics]);
  }

  /** A broker that goes down may refuse once; when all of them do so for a while, nothing will change by itself. */
  #refused(refusal: ClientError): void {
    const now = performance.now();
    this.#refusedSince ??= now;
    if (now - this.#refusedSince < REFUSED_MS) return;
    this.#failure = refusal;
    this.wake();
  }

  get client(): ConsumerClient {
    if (!this.#client) throw new ClientError('the consumer is not connected', 'fatal', 0);
    return this.#client;
  }

  async poll(maxRecords: number, waitMs: number): Promise<Polled> {
    if (this.#failure) throw this.#failure;
    this.#signalled = false;
    const polled = await this.#consume(maxRecords);
    if (polled.records.length > 0 || polled.ends.length > 0 || waitMs <= 0) return polled;
    if (!(await this.#signal(waitMs))) return polled;
    this.#signalled = false;
    return this.#consume(maxRecords);
  }

  async idle(waitMs: number): Promise<Polled> {
    if (this.#failure) throw this.#failure;
    await this.#signal(waitMs);
    this.#signalled = false;
    return this.#consume(1);
  }

  /** Resolves to true when there may be something to consume. */
  #signal(waitMs: number): Promise<boolean> {
    if (this.#signalled) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#awaken = null;
        resolve(false);
      }, waitMs);
      this.#awaken = () => {
        clearTimeout(timer);
        this.#awaken = null;
        resolve(true);
      };
    });
  }

  wake(): void {
    this.#signalled = true;
    this.#awaken?.();
  }

  async #consume(maxRecords: number): Promise<Polled> {
    try {
      // With a timeout above 0 a steady trickle would keep the call from returning until it has maxRecords.
      return await promised<Polled>((done) => {
        this.client.getClient().consume(0, maxRecords, false, (error, records, ends) => {
          done(error, { records, ends });
        });
      });
    } catch (error) {
      const failure = classify(error, 'consumer');
      if (failure.code === OFFSET_OUT_OF_RANGE) {
        throw classify(
          error,
          "records were deleted before they were read; to accept the loss, reset the group's offsets and start again",
        );
      }
      if (failure.kind === 'denied') throw await explained(failure, this.client, this.#options.needs);
      // The rest (a broker is gone, max.poll.interval.ms was exceeded, …) the client recovers from by itself, or it
      // is followed by a rebalance; a fatal one is not survived.
      if (failure.kind === 'fatal' && failure.code === FATAL) throw this.#fenced() ?? failure;
      this.#options.report(failure);
      return { records: [], ends: [] };
    }
  }

  /** What the client's fatal error means to a static member, for whom it has no other: FENCED_INSTANCE_ID (KIP-345). */
  #fenced(): ClientError | null {
    const { instanceId, needs } = this.#options;
    if (instanceId === null) return null;
    return new ClientError(
      `another process has joined group ${needs.groupId} as group.instance.id ${instanceId}: two instances run under one name. ` +
        `Give each its own "instance" in the configuration (this one stops, the other goes on)`,
      'fenced',
      FATAL,
    );
  }

  async #rebalance(code: number, partitions: TopicPartition[]): Promise<void> {
    const { client } = this;
    const listener = this.#listener;
    if (!listener) return;
    try {
      if (code === ASSIGN) {
        this.#cooperative = client.rebalanceProtocol() === 'COOPERATIVE';
        const start = await listener.assigned(partitions);
        if (this.#cooperative) client.incrementalAssign(start);
        else client.assign(start);
        return;
      }
      if (code !== REVOKE || client.assignmentLost()) await listener.lost(partitions);
      else await listener.revoked(partitions);
      if (this.#cooperative && code === REVOKE) client.incrementalUnassign(partitions);
      else client.unassign();
    } catch (error) {
      // The listener failed, or the client refused its answer: the group can't be answered any more.
      this.#failure = classify(error, 'rebalance');
      this.wake();
    }
  }

  async committed(partitions: readonly TopicPartition[]): Promise<TopicPartitionOffset[]> {
    if (partitions.length === 0) return [];
    try {
      const answer = await promised<TopicPartitionOffset[]>((done) => {
        this.client.committed(
          partitions.map(({ topic, partition }) => ({ topic, partition })),
          CALL_MS,
          done,
        );
      });
      return answer.map(({ topic, partition, offset }) => {
        // "None" comes as a negative logical offset, or without one.
        return { topic, partition, offset: typeof offset === 'number' && offset >= 0 ? offset : -1 };
      });
    } catch (error) {
      throw classify(error, 'reading committed offsets');
    }
  }

  async log({ topic, partition }: TopicPartition): Promise<PartitionLog> {
    try {
      // With read_committed the broker answers with the last stable offset.
      const { lowOffset, highOffset } = await promised<{ lowOffset: number; highOffset: number }>((done) => {
        this.client.queryWatermarkOffsets(topic, partition, CALL_MS, done);
      });
      return { topic, partition, logStart: lowOffset, lastStable: highOffset };
    } catch (error) {
      throw classify(error, `reading the ends of ${topic}-${partition}`);
    }
  }

  async seek(positions: readonly TopicPartitionOffset[]): Promise<void> {
    // All of them end before this does: a seek that went on by itself could meet the next poll, or the next rewind.
    const seeks = await Promise.allSettled(positions.map((position) => this.#seek(position)));
    for (const seek of seeks) if (seek.status === 'rejected') throw seek.reason;
  }

  async #seek(position: TopicPartitionOffset): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await promised<undefined>((done) => {
          this.client.seek(position, CALL_MS, done);
        });
        return;
      } catch (error) {
        if (attempt === SEEK_TRIES) {
          throw classify(error, `seek to ${position.topic}-${position.partition} ${position.offset}`);
        }
        await delay(SEEK_PAUSE_MS);
      }
    }
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.client.pause(partitions);
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.client.resume(partitions);
  }

  fetched({ topic, partition }: TopicPartition): FetchState | undefined {
    return this.#statistics.partitions.get(topic)?.get(partition);
  }

  connected(): boolean {
    return this.#statistics.connected;
  }

  async close(): Promise<void> {
    if (this.#client) await disconnected(this.#client);
  }
}

const ASSIGN = -175;
const REVOKE = -174;
