import { setTimeout as delay } from 'node:timers/promises';
import type { ClientProperties, ClusterConfig } from '../config/compiled.ts';
import { partitionId, type TopicPartition } from '../pipeline/ports.ts';
import { clusterProperties } from './cluster-properties.ts';
import { connect } from './connect.ts';
import { classify } from './errors.ts';
import {
  type Admin,
  AdminClient,
  type BrokerNode,
  type DescribedTopic,
  disconnected,
  IsolationLevel,
  type Metadata,
  OffsetSpec,
  Producer,
  type ProducerClient,
  promised,
} from './native.ts';
import { describeTopics } from './topics.ts';

/** What every client beside the loop is made with. */
export interface ToolOptions {
  cluster: ClusterConfig;
  clientId: string;
  /** librdkafka properties of the user. */
  properties: ClientProperties;
  report: (error: Error) => void;
}

export interface TopicShape {
  readonly partitions: number;
  readonly replicas: number;
}

/** A partition's log as the brokers have it. */
export interface LogEnds extends TopicPartition {
  /** First offset that still exists. */
  logStart: number;
  /** What `read_committed` can read up to. */
  lastStable: number;
  highWatermark: number;
}

const CALL_MS = 15_000;
const LEADERS_MS = 30_000;
/** How often the client delivers what has happened, such as that its token runs out. */
const EVENTS_MS = 500;

/** Topics, groups and the ends of logs. Calls throw a `ClientError`. */
export class KafkaAdmin {
  readonly brokers: readonly BrokerNode[];
  readonly #client: ProducerClient;
  readonly #admin: Admin;

  private constructor(client: ProducerClient, { brokers }: Metadata) {
    this.brokers = brokers;
    this.#client = client;
    this.#admin = AdminClient.createFrom(client);
  }

  /** Waits for a broker until `signal` aborts, or for so many tries. */
  static async connect(options: ToolOptions, signal: AbortSignal, maxTries?: number): Promise<KafkaAdmin> {
    const create = () => {
      const conf = {
        ...options.properties,
        ...clusterProperties(options.cluster),
        'client.id': options.clientId,
        'allow.auto.create.topics': false,
      };
      return new Producer(conf);
    };
    const { client, metadata } = await connect(create, options.cluster, signal, options.report, maxTries);
    client.setPollInterval(EVENTS_MS);
    return new KafkaAdmin(client, metadata);
  }

  async describeTopics(topics: Iterable<string>): Promise<readonly DescribedTopic[]> {
    try {
      return await describeTopics(this.#client, topics);
    } catch (error) {
      throw classify(error, 'describing topics');
    }
  }

  /** Resolves when its partitions have their leaders. */
  async createTopic(topic: string, shape: TopicShape, config: Readonly<Record<string, string>>): Promise<void> {
    const wanted = {
      topic,
      num_partitions: shape.partitions,
      replication_factor: shape.replicas,
      config: { ...config },
    };
    try {
      await promised<undefined>((done) => {
        this.#admin.createTopic(wanted, CALL_MS, done as (error: unknown) => void);
      });
      const deadline = performance.now() + LEADERS_MS;
      while ((await this.#leaders(topic)) < shape.partitions && performance.now() < deadline) await delay(EVENTS_MS);
    } catch (error) {
      throw classify(error, `creating the topic ${topic}`);
    }
  }

  /** How many of its partitions have one. */
  async #leaders(topic: string): Promise<number> {
    const { topics } = await promised<Metadata>((done) => {
      this.#client.getMetadata({ topic, timeout: CALL_MS }, done);
    });
    return topics.find(({ name }) => name === topic)?.partitions.filter(({ leader }) => leader >= 0).length ?? 0;
  }

  async deleteTopic(topic: string): Promise<void> {
    try {
      await promised<undefined>((done) => {
        this.#admin.deleteTopic(topic, CALL_MS, done as (error: unknown) => void);
      });
    } catch (error) {
      throw classify(error, `deleting the topic ${topic}`);
    }
  }

  /** Refused while the group has members. */
  async deleteGroup(group: string): Promise<void> {
    try {
      const [report] = await promised<{ error?: unknown }[]>((done) => {
        this.#admin.deleteGroups([group], { timeout: CALL_MS }, done);
      });
      if (report?.error) throw report.error as Error;
    } catch (error) {
      throw classify(error, `deleting the group ${group}`);
    }
  }

  async ends(partitions: readonly TopicPartition[]): Promise<LogEnds[]> {
    const starts = await this.#offsets(partitions, OffsetSpec.EARLIEST, IsolationLevel.READ_UNCOMMITTED);
    const stable = await this.#offsets(partitions, OffsetSpec.LATEST, IsolationLevel.READ_COMMITTED);
    const high = await this.#offsets(partitions, OffsetSpec.LATEST, IsolationLevel.READ_UNCOMMITTED);
    return partitions.map(({ topic, partition }) => {
      const id = partitionId({ topic, partition });
      return {
        topic,
        partition,
        logStart: starts.get(id) ?? -1,
        lastStable: stable.get(id) ?? -1,
        highWatermark: high.get(id) ?? -1,
      };
    });
  }

  async #offsets(partitions: readonly TopicPartition[], spec: unknown, isolationLevel: unknown) {
    const asked = partitions.map(({ topic, partition }) => ({ topic, partition, offset: spec }));
    try {
      const found = await promised<{ topic: string; partition: number; offset: number; error?: unknown }[]>((done) => {
        this.#admin.listOffsets(asked, { timeout: CALL_MS, isolationLevel }, done);
      });
      const failed = found.find(({ error }) => error);
      if (failed) throw failed.error as Error;
      return new Map(found.map((end) => [partitionId(end), end.offset]));
    } catch (error) {
      throw classify(error, 'reading the ends of partitions');
    }
  }

  close(): Promise<void> {
    return disconnected(this.#client);
  }
}
