import kafka from '@confluentinc/kafka-javascript';

import { askAgain } from './ask-again.ts';
import { call } from './calls.ts';
import type { PartitionEnds } from '../../src/prove/checker/evidence.ts';
import { partitionId } from '../../src/pipeline/ports.ts';
import type { Partition } from '../../src/prove/log-record.ts';
import { KafkaError } from './kafka-error.ts';
import { alterTopic } from './alter-topic.ts';
import { listTransactions, type ListedTransaction } from './list-transactions.ts';
import { waitFor } from './wait.ts';

const TIMEOUT = { timeout: 10_000 };
/** Offsets in an open transaction hold the answer back until it ends, in the worst case by its timeout. */
const STABLE_OFFSETS_MS = 60_000;

/** What the tests ask of the cluster itself, by clients that share nothing with the product. */
export interface Cluster {
  /** Resolves when the topic can be used. */
  createTopic(topic: string, partitions: number, config?: Readonly<Record<string, string>>): Promise<void>;
  alterTopic(topic: string, name: string, value: string): Promise<void>;
  addPartitions(topic: string, total: number): Promise<void>;
  /** Has each partition's log begin at this offset. */
  deleteRecords(before: readonly (Partition & { readonly offset: number })[]): Promise<void>;
  deleteTopics(topics: readonly string[]): Promise<void>;
  ends(partitions: readonly Partition[]): Promise<PartitionEnds[]>;
  /** The group's committed offsets by partition; those without one are left out. */
  committed(group: string, partitions: readonly Partition[]): Promise<ReadonlyMap<string, number>>;
  /** Members of a group, and what each of them was assigned. */
  members(group: string): Promise<{ memberId: string; partitions: string[] }[]>;
  /** Names of all topics and groups that begin so. */
  named(prefix: string): Promise<string[]>;
  /** Transactions that the brokers know, those of all applications. */
  transactions(): Promise<ListedTransaction[]>;
  close(): Promise<void>;
}

export async function connectCluster(bootstrapServers: string): Promise<Cluster> {
  const client = new kafka.Producer({ 'bootstrap.servers': bootstrapServers, log_level: 0 });
  const metadata = await call<kafka.Metadata>((done) => client.connect({ timeout: 10_000 }, done));
  const admin = kafka.AdminClient.createFrom(client);

  // A consumer that never joins. The admin client's own call brings the whole process down when a broker that has just
  // started answers that it does not coordinate the group yet.
  const offsetReaders = new Map<string, Promise<kafka.KafkaConsumer>>();
  const offsetReader = (group: string): Promise<kafka.KafkaConsumer> => {
    const known = offsetReaders.get(group);
    if (known) return known;
    const reader = new kafka.KafkaConsumer(
      { 'bootstrap.servers': bootstrapServers, 'group.id': group, 'isolation.level': 'read_committed', log_level: 0 },
      {},
    );
    const connected = call<unknown>((done) => reader.connect({ timeout: 10_000 }, done)).then(
      () => reader,
      (error: unknown) => {
        offsetReaders.delete(group); // the broker is away: the next one who asks tries again
        throw error;
      },
    );
    offsetReaders.set(group, connected);
    return connected;
  };

  async function offsetsOf(group: string, partitions: readonly Partition[]): Promise<ReadonlyMap<string, number>> {
    const reader = await offsetReader(group);
    const asked = partitions.map(({ topic, partition }) => ({ topic, partition }));
    const found = await askAgain(`the offsets of ${group}`, () =>
      call<kafka.TopicPartitionOffsetAndMetadata[]>((done) => reader.committed(asked, STABLE_OFFSETS_MS, done)),
    );
    return new Map(
      found.filter(({ offset }) => offset >= 0).map((committed) => [partitionId(committed), committed.offset]),
    );
  }

  async function offsets(partitions: readonly Partition[], isolationLevel: kafka.IsolationLevel) {
    const wanted = partitions.map(({ topic, partition }) => ({ topic, partition, offset: kafka.OffsetSpec.LATEST }));
    const found = await askAgain('the ends of partitions', async () => {
      // The client remembers that a partition had no leader, past its election; this refreshes what it knows.
      await call<kafka.Metadata>((done) => void client.getMetadata({ allTopics: true, ...TIMEOUT }, done));
      const answers = await call<kafka.ListOffsetsResult[]>((done) =>
        admin.listOffsets(wanted, { ...TIMEOUT, isolationLevel }, done),
      );
      for (const { error } of answers) if (error) throw new KafkaError('the end of a partition', error.code);
      return answers;
    });
    return new Map(found.map((end) => [partitionId(end), end.offset]));
  }

  const untilLed = (topic: string, partitions: number): Promise<unknown> =>
    waitFor(`topic ${topic} to have its leaders`, async () => {
      const { topics } = await call<kafka.Metadata>((done) => void client.getMetadata({ topic, ...TIMEOUT }, done));
      const found = topics.find(({ name }) => name === topic)?.partitions ?? [];
      return found.length === partitions && found.every(({ leader }) => leader >= 0);
    });

  return {
    async createTopic(topic, partitions, config = {}) {
      // -1: as often as the brokers do by default.
      const shape = { topic, num_partitions: partitions, replication_factor: -1, config: { ...config } };
      await call<undefined>((done) => admin.createTopic(shape, 10_000, (error) => done(error, undefined)));
      await untilLed(topic, partitions);
    },

    async addPartitions(topic, total) {
      await call<undefined>((done) => admin.createPartitions(topic, total, 10_000, (error) => done(error, undefined)));
      await untilLed(topic, total);
    },

    async deleteRecords(before) {
      await call<unknown>((done) => admin.deleteRecords([...before], TIMEOUT, done));
    },

    async alterTopic(topic, name, value) {
      const [broker] = metadata.brokers;
      if (!broker) throw new Error('the cluster has no broker');
      await askAgain(`${name} of ${topic} to be set`, () => alterTopic(broker.host, broker.port, topic, name, value));
    },

    async deleteTopics(topics) {
      for (const topic of topics)
        await call<undefined>((done) => admin.deleteTopic(topic, 10_000, (error) => done(error, undefined)));
    },

    async ends(partitions) {
      const lastStable = await offsets(partitions, kafka.IsolationLevel.READ_COMMITTED);
      const high = await offsets(partitions, kafka.IsolationLevel.READ_UNCOMMITTED);
      return partitions.map(({ topic, partition }) => ({
        topic,
        partition,
        lastStable: lastStable.get(partitionId({ topic, partition })) ?? -1,
        highWatermark: high.get(partitionId({ topic, partition })) ?? -1,
      }));
    },

    committed: offsetsOf,

    async members(group) {
      // An error about a group, as while its coordinator is on its way, brings the process down in the admin client.
      await offsetsOf(group, [{ topic: group, partition: 0 }]);
      const { groups } = await call<kafka.GroupDescriptions>((done) => admin.describeGroups([group], TIMEOUT, done));
      return (groups[0]?.members ?? []).map(({ memberId, assignment }) => ({
        memberId,
        partitions: assignment.topicPartitions.map(partitionId),
      }));
    },

    async named(prefix) {
      const { topics } = await call<kafka.Metadata>(
        (done) => void client.getMetadata({ allTopics: true, ...TIMEOUT }, done),
      );
      const { groups } = await call<{ groups: kafka.GroupOverview[] }>((done) => admin.listGroups(TIMEOUT, done));
      const names = [...topics.map(({ name }) => name), ...groups.map(({ groupId }) => groupId)];
      return names.filter((name) => name.startsWith(prefix));
    },

    async transactions() {
      const listed = await Promise.all(
        metadata.brokers.map(({ host, port }) =>
          askAgain('the transactions of a broker', () => listTransactions(host, port)),
        ),
      );
      return listed.flat();
    },

    async close() {
      for (const connected of offsetReaders.values()) {
        const reader = await connected;
        await call<unknown>((done) => reader.disconnect(done));
      }
      admin.disconnect();
      await call<unknown>((done) => client.disconnect(done));
    },
  };
}
