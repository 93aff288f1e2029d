import { setTimeout as delay } from 'node:timers/promises';
import { ClientError, type InputRecord, partitionId, type TopicPartitionOffset } from '../pipeline/ports.ts';
import type { ToolOptions } from './admin.ts';
import { clusterProperties } from './cluster-properties.ts';
import { connect } from './connect.ts';
import { classify, TOPIC_DENIED } from './errors.ts';
import { type ConsumerClient, disconnected, KafkaConsumer, promised } from './native.ts';

export interface LogReaderOptions extends ToolOptions {
  /** Nothing is joined or committed, but the client asks for the name. */
  group: string;
  isolation: 'read_committed' | 'read_uncommitted';
  /** Where to begin in each partition; at the first record that still exists, where that one is gone. */
  from: readonly TopicPartitionOffset[];
  /** Called for each record; within a partition in its order. */
  read: (record: InputRecord) => void;
}

const BATCH = 1_000;
const PAUSE_MS = 20;

/** Reads partitions, outside of any group's assignment, until it is closed. */
export class LogReader {
  readonly #client: ConsumerClient;
  readonly #options: LogReaderOptions;
  readonly #positions = new Map<string, number>();
  readonly #reading: Promise<void>;
  #failure: ClientError | null = null;
  #isClosing = false;

  private constructor(client: ConsumerClient, options: LogReaderOptions) {
    this.#client = client;
    this.#options = options;
    client.assign(options.from);
    this.#reading = this.#read();
  }

  static async open(options: LogReaderOptions, signal: AbortSignal): Promise<LogReader> {
    const create = () => {
      const conf = {
        'fetch.wait.max.ms': 50,
        ...options.properties,
        ...clusterProperties(options.cluster),
        'client.id': options.clientId,
        'group.id': options.group,
        'enable.auto.commit': false,
        'isolation.level': options.isolation,
        'enable.partition.eof': true,
        'auto.offset.reset': 'earliest',
      };
      return new KafkaConsumer(conf);
    };
    const { client } = await connect(create, options.cluster, signal, options.report);
    return new LogReader(client, options);
  }

  /** All records that a new reader finds up to the given ends. */
  static async readUpTo(
    ends: readonly TopicPartitionOffset[],
    options: Omit<LogReaderOptions, 'read'>,
    signal: AbortSignal,
  ): Promise<InputRecord[]> {
    const records: InputRecord[] = [];
    const limits = new Map(ends.map((end) => [partitionId(end), end.offset]));
    const read = (record: InputRecord) => {
      if (record.offset < (limits.get(partitionId(record)) ?? 0)) records.push(record);
    };
    const reader = await LogReader.open({ ...options, read }, signal);
    try {
      await reader.reached(ends, signal);
      return records;
    } finally {
      await reader.close();
    }
  }

  async #read(): Promise<void> {
    while (!this.#isClosing) {
      try {
        if ((await this.#batch()) === BATCH) continue;
      } catch (error) {
        const failure = classify(error, 'reading');
        if (failure.kind === 'denied' || failure.code === TOPIC_DENIED) {
          this.#failure = failure;
          return;
        }
        this.#options.report(failure); // a broker that is away: the client goes on by itself when it is back
      }
      await delay(PAUSE_MS);
    }
  }

  async #batch(): Promise<number> {
    const [records, ends] = await promised<[InputRecord[], readonly TopicPartitionOffset[]]>((done) => {
      this.#client.getClient().consume(0, BATCH, false, (error, found, reached) => {
        done(error, [found, reached]);
      });
    });
    for (const record of records) {
      this.#positions.set(partitionId(record), record.offset + 1);
      this.#options.read(record);
    }
    // Behind control records, and behind aborted ones for `read_committed`.
    for (const end of ends) this.#positions.set(partitionId(end), end.offset);
    return records.length;
  }

  /** Resolves once all that stood in the partitions below these offsets has been read. */
  async reached(ends: readonly TopicPartitionOffset[], signal: AbortSignal): Promise<void> {
    const isReached = (end: TopicPartitionOffset) => (this.#positions.get(partitionId(end)) ?? 0) >= end.offset;
    while (!ends.every(isReached)) {
      if (this.#failure) throw this.#failure;
      await delay(PAUSE_MS, undefined, { signal });
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#reading;
    await disconnected(this.#client);
  }
}
