import type { Cluster } from '../../test/helpers/cluster.ts';
import { partitionId } from '../../src/pipeline/ports.ts';
import type { LogRecord, Partition } from '../../src/prove/log-record.ts';
import { type Isolation, readUpTo } from '../../test/helpers/reader.ts';
import { waitFor } from '../../test/helpers/wait.ts';
import type { ReachableBroker } from './kept-broker.ts';

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
export async function createTopics(broker: ReachableBroker): Promise<void> {
  const known = await broker.withCluster((cluster) => cluster.named(INPUT));
  const taken = topics.find((topic) => known.includes(topic));
  if (taken !== undefined)
    throw new Error(`the broker has a topic ${taken} already: delete it, or give the demo another broker`);
  for (const topic of topics) await broker.withCluster((cluster) => createTopic(cluster, topic));
}

async function createTopic(cluster: Cluster, topic: string): Promise<void> {
  try {
    await cluster.createTopic(topic, PARTITIONS);
  } catch (error) {
    // It was made by a call whose answer was lost with the broker.
    if ((error as { code?: number }).code !== TOPIC_EXISTS) throw error;
  }
}

export async function deleteTopics(cluster: Cluster): Promise<void> {
  await cluster.deleteTopics(topics);
}

/** All that stands in the input. */
export async function readInput(cluster: Cluster, bootstrapServers: string): Promise<readonly LogRecord[]> {
  const ends = (await cluster.ends(inputPartitions)).map((end): [string, number] => [
    partitionId(end),
    end.highWatermark,
  ]);
  return readUpTo(bootstrapServers, inputPartitions, new Map(ends));
}

/** All that a reader finds in the output topics, once nothing writes to them any more and all transactions have ended. */
export async function readOutputs(broker: ReachableBroker, isolation: Isolation): Promise<readonly LogRecord[]> {
  return broker.withCluster(async (cluster) => {
    const ends = await waitFor('all transactions to end', async () => {
      const found = await cluster.ends(outputPartitions);
      return found.every(({ lastStable, highWatermark }) => lastStable === highWatermark) && found;
    });
    const upTo = new Map(ends.map((end) => [partitionId(end), end.highWatermark]));
    return readUpTo(broker.bootstrapServers, outputPartitions, upTo, isolation);
  });
}
