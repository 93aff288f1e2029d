/**
 * The client's callback classes as this project uses them: what its type definitions lack, and the promise around
 * each call. Its KafkaJS-like layer is not used: it can't tell the transaction errors apart.
 */
import { createRequire } from 'node:module';
import type { InputRecord, TopicPartition, TopicPartitionOffset } from '../pipeline/ports.ts';

export type Callback<T> = (error: unknown, result: T) => void;
export type NativeConf = Record<string, unknown>;

/** As the group has it. */
export interface CommittedOffset extends TopicPartitionOffset {
  /** A text of whoever committed it. */
  metadata?: string | undefined;
}

/** The object behind `getClient()`: the same calls without an event emitted and an argument check per record. */
interface NativeConsumer {
  /** `ends` has partitions of which the end was reached, where `enable.partition.eof` is on. */
  consume(
    timeoutMs: number,
    max: number,
    onlyFirst: boolean,
    done: (error: unknown, records: InputRecord[], ends: readonly TopicPartitionOffset[]) => void,
  ): void;
}
/** Texts are taken too, as UTF-8. */
export type NativeHeaders = readonly Readonly<Record<string, Buffer | string>>[];

interface NativeProducer {
  /** Returns 0 or an error code. The headers must be valid: an invalid one throws and is enqueued all the same. */
  produce(
    topic: string,
    partition: number,
    value: Buffer | null,
    key: Buffer | null,
    timestamp: number,
    opaque?: undefined,
    headers?: NativeHeaders,
  ): number;
}

export interface Metadata {
  brokers: BrokerNode[];
  topics: { name: string; partitions: { id: number; leader: number }[] }[];
}

export interface Client {
  connect(options: { allTopics: boolean; timeout: number }, done: Callback<Metadata>): void;
  getMetadata(options: ({ topic: string } | { allTopics: true }) & { timeout: number }, done: Callback<Metadata>): void;
  isConnected(): boolean;
  /** Delivers what has happened. A consumer does that when it consumes. */
  poll?(): void;
  /** The fact of a `delivery-report` is an error, or null. */
  on(event: 'event.error' | 'event.log' | 'event.stats' | 'delivery-report', listener: (fact: unknown) => void): void;
  disconnect(done: () => void): void;
}

export interface ConsumerClient extends Client {
  getClient(): NativeConsumer;
  subscribe(topics: string[]): void;
  assign(partitions: readonly TopicPartitionOffset[]): void;
  unassign(): void;
  incrementalAssign(partitions: readonly TopicPartitionOffset[]): void;
  incrementalUnassign(partitions: readonly TopicPartition[]): void;
  assignmentLost(): boolean;
  rebalanceProtocol(): 'NONE' | 'EAGER' | 'COOPERATIVE';
  committed(partitions: readonly TopicPartition[], timeoutMs: number, done: Callback<CommittedOffset[]>): void;
  queryWatermarkOffsets(
    topic: string,
    partition: number,
    timeoutMs: number,
    done: Callback<{ lowOffset: number; highOffset: number }>,
  ): void;
  seek(position: TopicPartitionOffset, timeoutMs: number, done: Callback<undefined>): void;
  pause(partitions: readonly TopicPartition[]): void;
  resume(partitions: readonly TopicPartition[]): void;
}

export interface ProducerClient extends Client {
  getClient(): NativeProducer;
  poll(): void;
  /** Calls `poll` by itself from then on. */
  setPollInterval(ms: number): void;
  initTransactions(timeoutMs: number, done: Callback<undefined>): void;
  beginTransaction(done: Callback<undefined>): void;
  sendOffsetsToTransaction(
    offsets: readonly CommittedOffset[],
    consumer: ConsumerClient,
    timeoutMs: number,
    done: Callback<undefined>,
  ): void;
  commitTransaction(timeoutMs: number, done: Callback<undefined>): void;
  abortTransaction(timeoutMs: number, done: Callback<undefined>): void;
  /** Disconnects without the flush that `disconnect` starts with. */
  _disconnect(done: () => void): void;
}

export interface BrokerNode {
  id: number;
  host: string;
  port: number;
}

/** As Metadata requests tell it. */
export interface DescribedTopic {
  name: string;
  error?: { code: number; message: string };
  partitions: { partition: number; replicas: BrokerNode[]; isr: BrokerNode[] }[];
  /** Kafka's AclOperation codes; absent where the broker does not tell. */
  authorizedOperations?: number[];
}

export interface NewTopic {
  topic: string;
  num_partitions: number;
  replication_factor: number;
  config: Record<string, string>;
}

/**
 * Of its other calls, `describeGroups` with authorized operations brings the process down (seen with librdkafka 2.15.1
 * and a group that does not exist), and so does `listConsumerGroupOffsets` when the group has no coordinator yet.
 */
export interface Admin {
  createTopic(topic: NewTopic, timeoutMs: number, done: (error: unknown) => void): void;
  deleteTopic(topic: string, timeoutMs: number, done: (error: unknown) => void): void;
  deleteGroups(groups: string[], options: { timeout: number }, done: Callback<{ error?: unknown }[]>): void;
  listOffsets(
    partitions: readonly (TopicPartition & { offset: unknown })[],
    options: { timeout: number; isolationLevel: unknown },
    done: Callback<(TopicPartitionOffset & { error?: unknown })[]>,
  ): void;
  describeTopics(
    topics: readonly string[],
    options: { includeAuthorizedOperations: boolean; timeout: number },
    done: Callback<DescribedTopic[]>,
  ): void;
}

/** Resolves when the client has ended. */
export const disconnected = (client: Client): Promise<void> =>
  new Promise((resolve) => {
    client.disconnect(resolve);
  });

/**
 * Properties of topics stand among the others. Were an object of their own given for them, even an empty one, the client
 * would take none of those that stand here, and say nothing.
 */
interface Binding {
  KafkaConsumer: new (conf: NativeConf) => ConsumerClient;
  Producer: new (conf: NativeConf) => ProducerClient;
  /** Uses the connections of a client that stays connected meanwhile. */
  AdminClient: { createFrom(client: Client): Admin };
  OffsetSpec: Readonly<Record<'EARLIEST' | 'LATEST', unknown>>;
  IsolationLevel: Readonly<Record<'READ_UNCOMMITTED' | 'READ_COMMITTED', unknown>>;
}

const binding = createRequire(import.meta.url)('@confluentinc/kafka-javascript') as Binding;
export const { AdminClient, IsolationLevel, KafkaConsumer, OffsetSpec, Producer } = binding;

/** Turns one callback-taking call into a promise; errors come through as the client made them. */
export function promised<T>(call: (done: Callback<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, result) => {
      // The client hands over its own error objects, which carry a code; they are classified by the caller.
      if (error)
        reject(error as Error); // eslint-disable-line
      else resolve(result);
    });
  });
}
