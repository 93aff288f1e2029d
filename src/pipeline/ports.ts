/**
 * What the loop asks of the world. `kafka/` implements the two clients; `serde/`, `dead-letters/` and the user's
 * transform come in as plain functions. Batches cross these ports, never single records: a call into native code
 * per record is what costs most, and a faster client can be put behind the same ports.
 */

export interface TopicPartition {
  topic: string;
  partition: number;
}

export interface TopicPartitionOffset extends TopicPartition {
  /** The next offset to read. */
  offset: number;
}

/**
 * Headers as the client delivers and takes them: ordered, duplicates allowed, one `{ name: value }` object each.
 * Kept in the client's shape because most records pass through without anybody looking at them.
 */
export type RawHeaders = readonly Readonly<Record<string, Buffer>>[];

/** A record as it was read. `null` and empty are different things in keys and values. */
export interface InputRecord extends TopicPartition {
  offset: number;
  /** Milliseconds since the epoch; -1 where the topic has none. */
  timestamp: number;
  key: Buffer | null;
  value: Buffer | null;
  /** Absent where the record has none. */
  headers?: RawHeaders;
}

/** A record that is ready to be produced. */
export interface OutputRecord {
  topic: string;
  /** Left to Kafka's default partitioner (murmur2 of the key) when absent. */
  partition?: number;
  key: Buffer | null;
  value: Buffer | null;
  /** Milliseconds since the epoch. */
  timestamp: number;
  headers?: RawHeaders;
}

/** The reader has seen everything in a partition up to `offset`, control records and aborted records included. */
export type PartitionEnd = TopicPartitionOffset;

export interface Poll {
  records: InputRecord[];
  ends: PartitionEnd[];
}

/** A partition's log as the broker last described it. */
export interface PartitionLog extends TopicPartition {
  /** First offset that still exists. */
  logStart: number;
  /** Last stable offset: what `read_committed` can read up to. */
  lastStable: number;
}

/** Called while the group waits for this member: partitions change hands when the returned promise settles. */
export interface RebalanceListener {
  /** Returns where to start reading each partition. */
  assigned(partitions: TopicPartition[]): Promise<TopicPartitionOffset[]>;
  revoked(partitions: TopicPartition[]): Promise<void>;
  /** The partitions may already belong to another member: nothing may be committed for them. */
  lost(partitions: TopicPartition[]): Promise<void>;
}
