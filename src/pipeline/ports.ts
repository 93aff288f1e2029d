/**
 * What the loop asks of the world. `kafka/` implements the two clients; `serde/`, `dead-letters/` and the user's
 * transform come in as plain functions. Batches cross these ports, never single records: a call into native code
 * per record is what costs most, and a faster client can be put behind the same ports.
 */

export interface TopicPartition {
  topic: string;
  partition: number;
}

/** `topic/partition`: the key of every map over partitions. */
export const partitionId = ({ topic, partition }: Readonly<TopicPartition>): string => `${topic}/${partition}`;

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
  /** The output's name in the configuration, or `dead-letter`. */
  output: string;
  topic: string;
  /** Left to Kafka's default partitioner (murmur2 of the key) when absent. */
  partition?: number | undefined;
  key: Buffer | null;
  value: Buffer | null;
  /** Milliseconds since the epoch; -1 where the source record has none and the transform set none. */
  timestamp: number;
  headers?: RawHeaders | undefined;
  /** Goes out as the last header, `event-id`. Apart from the others because nearly every record has no other. */
  eventId?: string | undefined;
}

/** Bytes ⇄ value. `null` bytes are `null` values and the other way round, in every format. Both directions throw an Error. */
export interface Serde {
  /** Names the format and its schema: serdes of one name give the same bytes for the same value. */
  readonly name: string;
  encode(value: unknown): Buffer | null;
  decode(bytes: Buffer | null): unknown;
}

/**
 * Decode, transform and encode of one record. `attempt` counts from 1. Synchronous where the user's function is, and the
 * loop should not await then. Throws or rejects with an `Error`, never with anything else; leaves nothing behind when it does.
 */
export type RecordTransform = (
  record: InputRecord,
  attempt: number,
) => readonly OutputRecord[] | Promise<readonly OutputRecord[]>;

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

/** The client's call failed; `kind` says what may be done about it. */
export type FailureKind =
  /** Call the same function again. */
  | 'retriable'
  /** Abort the transaction, rewind, go on. */
  | 'abortable'
  /** The broker refuses something that was written: find which record it is. */
  | 'rejected'
  /** The group went on without us: abort, send no offsets. */
  | 'stale'
  /** Another producer has our transactional id (or the broker timed our transaction out). */
  | 'fenced'
  /** What is to be read next is outside of the partition's log. */
  | 'out-of-range'
  /** This producer is of no more use; a new one may be. */
  | 'fatal'
  /** Nothing will help until somebody changes the configuration or the cluster. */
  | 'denied';

export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly kind: FailureKind;
  /** librdkafka's code: negative for its own, positive for the broker's. */
  readonly code: number;
  /** With `rejected`: the record itself is at fault, not its topic. */
  readonly recordLevel: boolean;

  constructor(message: string, kind: FailureKind, code: number, recordLevel = false) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.recordLevel = recordLevel;
  }

  /** A new process in this one's place would fail alike. */
  get isFinal(): boolean {
    return this.kind === 'denied' || this.kind === 'fenced';
  }

  /** The transaction is over, but the producer is not: an abort ends it. */
  get endsInAbort(): boolean {
    return this.kind === 'abortable' || this.kind === 'rejected' || this.kind === 'stale';
  }

  /** The broker's MESSAGE_TOO_LARGE, which it says of a batch and of a record alike. */
  get isTooLarge(): boolean {
    return this.code === 10;
  }
}

/** What one poll returns. */
export interface Polled {
  records: InputRecord[];
  /** Ends that were come to, with the offset there: all records before them were returned, by this poll or one before. */
  ends: readonly TopicPartitionOffset[];
}

/** A member of the input's consumer group. Every method rejects with a {@link ClientError}. */
export interface Consumer {
  /** Joins the group. Waits for a broker as long as it takes, or until `signal` aborts. */
  start(listener: RebalanceListener, signal: AbortSignal): Promise<void>;
  /** At most `maxRecords`, at once if there are some, else within `waitMs` or at the next `wake()`. One call at a time. */
  poll(maxRecords: number, waitMs: number): Promise<Polled>;
  /** Keeps the membership, and the listener, alive while no records are wanted: waits first, then takes one at the most. */
  idle(waitMs: number): Promise<Polled>;
  wake(): void;
  /** The group's committed offsets, open transactions settled; -1 where there is none. */
  committed(partitions: readonly TopicPartition[]): Promise<TopicPartitionOffset[]>;
  /** Whether the topic did not have the partition yet when the group began to read it. */
  isAdded(partition: TopicPartition): Promise<boolean>;
  /** First and last stable offset of a partition's log, asked of the broker now. */
  log(partition: TopicPartition): Promise<PartitionLog>;
  /** Moves the read position and drops what was fetched. No poll may be in flight. */
  seek(positions: readonly TopicPartitionOffset[]): Promise<void>;
  /** The same for the whole assignment, partitions included in which reading has stopped. */
  restart(positions: readonly TopicPartitionOffset[]): void;
  pause(partitions: readonly TopicPartition[]): void;
  resume(partitions: readonly TopicPartition[]): void;
  /** What the broker last told about a partition of the assignment, about a second old; undefined until it did. */
  fetched(partition: TopicPartition): FetchState | undefined;
  /** The brokers' addresses while none of them is connected, about a second old; null while one is. */
  unreached(): string | null;
  /** Leaves the group; the listener is still called. */
  close(): Promise<void>;
}

export interface FetchState {
  /** First offset that still exists, or -1 when not known. */
  logStart: number;
  /** Last stable offset, or -1 when not known. */
  lastStable: number;
  /** Next offset to fetch: beyond control records and aborted records. */
  nextFetch: number;
  /** The client reads no further, as where its position is outside of the log. */
  hasStopped: boolean;
}

/** One transactional producer, from its first epoch to its retirement. Every method rejects with a {@link ClientError}. */
export interface Producer {
  /** Connects, fences the transactional id's former holder and settles what it left open. */
  init(signal: AbortSignal): Promise<void>;
  begin(): Promise<void>;
  /** Enqueues `records` from index `from`; returns the index of the first that did not fit, `records.length` if all did. */
  produce(records: readonly OutputRecord[], from: number): number;
  /** Adds the offsets, with the group membership that `consumer` has now, to the transaction. */
  sendOffsets(offsets: readonly TopicPartitionOffset[], consumer: Consumer): Promise<void>;
  commit(): Promise<void>;
  abort(): Promise<void>;
  /**
   * Why this producer must not begin another transaction although its calls succeeded: a request of this transaction
   * may still be under way and would be taken for part of the next (KAFKA-17754). null when there is no doubt.
   */
  doubt(): 'slow-call' | 'disconnected' | null;
  /** Largest record the client accepts, in bytes with key, value, headers and overhead. */
  readonly maxRecordBytes: number;
  close(): Promise<void>;
}
