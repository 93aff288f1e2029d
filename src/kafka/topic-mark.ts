import { createHash } from 'node:crypto';

/** A topic as a group has begun to read it; stands as metadata with the offsets that are committed. */
export interface TopicMark {
  /** Of another cluster's topic nothing can be told: its groups may have been copied to this one. */
  readonly cluster: string;
  readonly topic: string;
  /** How many there were. */
  readonly partitions: number;
}

const CLUSTER_LENGTH = 4;
const TOPIC_LENGTH = 9;
const TEXT = /^mr:([\w-]{4}):([\w-]{9}):(\d+)$/;

/** Of the ids only as much as tells them apart: the client leaks what it is given with offsets, 24 bytes at the least. */
export function markOf(clusterId: string, topicId: string, partitions: number): TopicMark {
  // A cluster's id may be any text; a topic's is random.
  const cluster = createHash('sha256').update(clusterId).digest('base64url').slice(0, CLUSTER_LENGTH);
  return { cluster, topic: topicId.slice(0, TOPIC_LENGTH), partitions };
}

export const textOf = ({ cluster, topic, partitions }: TopicMark): string => `mr:${cluster}:${topic}:${partitions}`;

/** Null where the text is none of ours. */
export function markIn(text = ''): TopicMark | null {
  const [, cluster, topic, partitions] = TEXT.exec(text) ?? [];
  if (cluster === undefined || topic === undefined || partitions === undefined) return null;
  return { cluster, topic, partitions: Number(partitions) };
}

export const areOfOneCluster = (one: TopicMark, other: TopicMark): boolean => one.cluster === other.cluster;
