import type { TopicPartition, TopicPartitionOffset } from '../pipeline/ports.ts';
import type { ToolOptions } from './admin.ts';
import { clusterProperties } from './cluster-properties.ts';
import { connect } from './connect.ts';
import { classify } from './errors.ts';
import { type ConsumerClient, disconnected, KafkaConsumer, promised } from './native.ts';

const CALL_MS = 15_000;

/**
 * What a group has committed, asked by a consumer that never joins it: the admin client's own call ends the process when
 * a broker answers that it does not coordinate the group (yet).
 */
export class GroupOffsets {
  readonly #client: ConsumerClient;

  private constructor(client: ConsumerClient) {
    this.#client = client;
  }

  static async connect(group: string, options: ToolOptions, signal: AbortSignal): Promise<GroupOffsets> {
    const create = () => {
      const conf = {
        ...options.properties,
        ...clusterProperties(options.cluster),
        'client.id': options.clientId,
        'group.id': group,
        'enable.auto.commit': false,
        // What an open transaction is about to commit does not hold up the answer then.
        'isolation.level': 'read_uncommitted',
      };
      return new KafkaConsumer(conf);
    };
    const { client } = await connect(create, options.cluster, signal, options.report);
    return new GroupOffsets(client);
  }

  /** Partitions without a commit are left out. */
  async committed(partitions: readonly TopicPartition[]): Promise<TopicPartitionOffset[]> {
    try {
      // Nothing comes, but the client delivers what has happened, such as that its token runs out.
      await promised<unknown>((done) => {
        this.#client.getClient().consume(0, 1, false, done);
      });
      const found = await promised<(TopicPartition & { offset?: number })[]>((done) => {
        const asked = partitions.map(({ topic, partition }) => ({ topic, partition }));
        this.#client.committed(asked, CALL_MS, done);
      });
      return found.flatMap(({ topic, partition, offset = -1 }) => (offset >= 0 ? [{ topic, partition, offset }] : []));
    } catch (error) {
      throw classify(error, 'reading committed offsets');
    }
  }

  close(): Promise<void> {
    return disconnected(this.#client);
  }
}
