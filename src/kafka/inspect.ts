import type { ClusterConfig } from '../config/compiled.ts';
import { KafkaAdmin } from './admin.ts';
import type { BrokerNode, DescribedTopic } from './native.ts';
import { type ConnectionOptions, openConnection } from './wire/connection.ts';
import { describeConfigs, mayReadGroup, mayWriteTransactionalId, type Settings } from './wire/questions.ts';

/** Transactions and committed offsets are as safe as these are. */
export const INTERNAL_TOPICS = ['__transaction_state', '__consumer_offsets'];

const TOPIC_SETTINGS = ['min.insync.replicas', 'max.message.bytes'];
const BROKER_SETTINGS = ['transaction.max.timeout.ms'];
const MAX_TRIES = 3;
const CALL_MS = 10_000;

/** What is asked for, by name. */
export interface Subjects {
  readonly topics: readonly string[];
  readonly groups: readonly string[];
  readonly transactionalIds: readonly string[];
}

/** What a cluster tells the user that we are. Nothing is changed by asking, and nobody who runs is disturbed. */
export interface ClusterFacts {
  readonly brokers: number;
  /** Those asked for, and the internal ones. */
  readonly topics: readonly DescribedTopic[];
  readonly more: MoreFacts | Unasked;
}

/** What the client has no call for, or none that its process survives. */
interface MoreFacts {
  readonly kind: 'asked';
  readonly broker: Settings;
  readonly topics: ReadonlyMap<string, Settings>;
  /** Whether this user may read with them. */
  readonly groups: ReadonlyMap<string, boolean>;
  /** Whether this user may write with them. */
  readonly transactionalIds: ReadonlyMap<string, boolean>;
}

interface Unasked {
  readonly kind: 'unasked';
  readonly why: string;
}

/** @throws ClientError when the cluster can't be reached, or refuses us. */
export async function inspectCluster(
  cluster: ClusterConfig,
  subjects: Subjects,
  clientId: string,
): Promise<ClusterFacts> {
  const { properties } = cluster;
  // What it complains of on the way comes again with its last try.
  const options = { cluster, clientId, properties, report: () => undefined };
  const { signal } = new AbortController();
  const admin = await KafkaAdmin.connect(options, signal, MAX_TRIES);
  try {
    const topics = await admin.describeTopics([...subjects.topics, ...INTERNAL_TOPICS]);
    const visible = topics.filter(({ error }) => !error).map(({ name }) => name);
    const [broker] = admin.brokers;
    const more: MoreFacts | Unasked = broker
      ? await ask(cluster, broker, subjects, visible, { clientId, timeoutMs: CALL_MS, signal }).catch(
          (error: unknown): Unasked => ({
            kind: 'unasked',
            why: error instanceof Error ? error.message : String(error),
          }),
        )
      : { kind: 'unasked', why: 'the cluster names no broker' };
    return { brokers: admin.brokers.length, topics, more };
  } finally {
    await admin.close();
  }
}

async function ask(
  cluster: ClusterConfig,
  broker: BrokerNode,
  subjects: Subjects,
  visible: readonly string[],
  options: ConnectionOptions,
): Promise<MoreFacts> {
  const connection = await openConnection(cluster, broker, options);
  try {
    const settings = await describeConfigs(
      connection.ask,
      visible.map((name) => ({ type: 'topic', name })),
      TOPIC_SETTINGS,
    );
    const [ofBroker = null] = await describeConfigs(
      connection.ask,
      [{ type: 'broker', name: String(broker.id) }],
      BROKER_SETTINGS,
    );
    const groups = new Map<string, boolean>();
    for (const group of subjects.groups) groups.set(group, await mayReadGroup(connection.ask, group));
    const transactionalIds = new Map<string, boolean>();
    for (const id of subjects.transactionalIds)
      transactionalIds.set(id, await mayWriteTransactionalId(connection.ask, id));
    const topics = new Map(visible.map((name, index) => [name, settings[index] ?? null]));
    return { kind: 'asked', broker: ofBroker, topics, groups, transactionalIds };
  } finally {
    connection.close();
  }
}
