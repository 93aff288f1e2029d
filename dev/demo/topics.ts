import type { Cluster } from '../../test/helpers/cluster.ts';
import { partitionId } from '../../src/pipeline/ports.ts';
import type { LogRecord, Partition } from '../../src/prove/log-record.ts';
import { type Isolation, readUpTo } from '../../test/helpers/reader.ts';

export const INPUT = 'flights';
export const OUTPUTS = {
  'on-time': 'flights.on-time',
  delayed: 'flights.delayed',
  'dead letters': 'flights.dead-letters',
} as const;

/** Of the effects, for what they can't apply. */
const UNAPPLIED = 'flights.delayed.dead-letters';

const PARTITIONS = 4;
const TOPIC_EXISTS = 36;
const topics = [INPUT, ...Object.values(OUTPUTS), UNAPPLIED];

export const inputPartitions = partitionsOf(INPUT);
export const delayedPartitions = partitionsOf(OUTPUTS.delayed);
const outputPartitions = Object.values(OUTPUTS).flatMap(partitionsOf);

function partitionsOf(topic: string): Partition[] {
  return Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition }));
}

/** Creates the topics of config/flights.yaml and config/flights-effects.yaml, none of which may exist: a given broker may hold somebody's records. */
export async function createTopics(cluster: Cluster): Promise<void> {
  for (const [index, topic] of topics.entries()) {
    try {
      await cluster.createTopic(topic, PARTITIONS);
    } catch (error) {
      await cluster.deleteTopics(topics.slice(0, index));
      if ((error as { code?: number }).code !== TOPIC_EXISTS) throw error;
      throw new Error(`the broker has a topic ${topic} already: delete it, or give the demo another broker`, {
        cause: error,
      });
    }
  }
}

export async function deleteTopics(cluster: Cluster): Promise<void> {
  await cluster.deleteTopics(topics);
}

export async function recordsIn(cluster: Cluster): Promise<number> {
  const ends = await cluster.ends(inputPartitions);
  return ends.reduce((sum, { highWatermark }) => sum + highWatermark, 0);
}

/** All that a reader finds in the output topics, once nothing writes to them any more. */
export async function readOutputs(
  cluster: Cluster,
  bootstrapServers: string,
  isolation: Isolation,
): Promise<readonly LogRecord[]> {
  const ends = (await cluster.ends(outputPartitions)).map((end): [string, number] => [
    partitionId(end),
    isolation === 'read_committed' ? end.lastStable : end.highWatermark,
  ]);
  return readUpTo(bootstrapServers, outputPartitions, new Map(ends), isolation);
}
