import { setTimeout as delay } from 'node:timers/promises';

import kafka from '@confluentinc/kafka-javascript';

import { call } from './calls.ts';
import { REPORTING, watchCutOff } from './cut-off.ts';
import { partitionId } from '../../src/pipeline/ports.ts';
import type { Header, LogRecord, Partition } from '../../src/prove/log-record.ts';
import { waitFor } from './wait.ts';

const BATCH = 1_000;
const PAUSE_MS = 20;

export type Isolation = 'read_committed' | 'read_uncommitted';

/** Reads whole partitions from their beginning, outside any group, until it is closed. */
export interface Reader {
  /** Everything read so far; within a partition in its order. */
  readonly records: readonly LogRecord[];
  /** Resolves once it has read all that stood in the partitions below these offsets, control records included. */
  reached(ends: ReadonlyMap<string, number>): Promise<void>;
  close(): Promise<void>;
}

export async function startReader(
  bootstrapServers: string,
  partitions: readonly Partition[],
  isolation: Isolation,
): Promise<Reader> {
  const records: LogRecord[] = [];
  const positions = new Map<string, number>();

  async function connect() {
    const consumer = new kafka.KafkaConsumer(
      {
        'bootstrap.servers': bootstrapServers,
        'group.id': 'reads-without-a-group',
        'enable.auto.commit': false,
        'isolation.level': isolation,
        'enable.partition.eof': true,
        'fetch.wait.max.ms': 50,
        log_level: 0,
        ...REPORTING,
      },
      { 'auto.offset.reset': 'error' },
    );
    consumer.on('data', (message) => {
      records.push(toRecord(message));
      positions.set(partitionId(message), message.offset + 1);
    });
    // The end of a partition is told with the offset behind control records and, for read_committed, aborted records.
    consumer.on('partition.eof', (end) => void positions.set(partitionId(end), end.offset));
    const watch = watchCutOff(consumer);
    await call<unknown>((done) => consumer.connect({ timeout: 10_000 }, done));
    consumer.assign(
      partitions.map(({ topic, partition }) => {
        return { topic, partition, offset: positions.get(partitionId({ topic, partition })) ?? 0 };
      }),
    );
    consumer.setDefaultConsumeTimeout(0);
    return { consumer, watch };
  }

  let { consumer, watch } = await connect();
  const disconnect = (): Promise<unknown> => call<unknown>((done) => consumer.disconnect(done));
  // Batch by batch: the client's endless `consume()` drops what is under way when it is closed, and then never ends.
  const closing = new AbortController();
  let trouble = '';
  const reading = (async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        if (watch.isCutOff) {
          const next = await connect();
          await disconnect();
          ({ consumer, watch } = next);
        }
        const batch = await call<kafka.Message[]>((done) => consumer.consume(BATCH, done));
        if (batch.length < BATCH) await delay(PAUSE_MS);
      } catch (error) {
        trouble = String(error); // a broker that is down: the client goes on by itself when it is back
        await delay(PAUSE_MS);
      }
    }
  })();

  return {
    records,
    async reached(ends) {
      const missing = (): string[] =>
        [...ends]
          .filter(([partition, end]) => (positions.get(partition) ?? 0) < end)
          .map(([partition, end]) => `${partition}: at ${positions.get(partition) ?? 0} of ${end}`);
      await waitFor(`the ${isolation} reader to reach the end`, () => missing().length === 0, {
        seen: () => [...missing(), trouble].join('\n'),
      });
    },
    async close() {
      closing.abort();
      await reading;
      await disconnect();
    },
  };
}

/** All that a new reader finds in the partitions up to the given offsets. */
export async function readUpTo(
  bootstrapServers: string,
  partitions: readonly Partition[],
  ends: ReadonlyMap<string, number>,
  isolation: Isolation = 'read_committed',
): Promise<readonly LogRecord[]> {
  const reader = await startReader(bootstrapServers, partitions, isolation);
  try {
    await reader.reached(ends);
    return reader.records;
  } finally {
    await reader.close();
  }
}

function toRecord({ topic, partition, offset, timestamp, key, value, headers }: kafka.Message): LogRecord {
  return {
    topic,
    partition,
    offset,
    timestamp: timestamp ?? -1,
    key: key === undefined || key === null ? null : Buffer.from(key),
    value,
    headers: (headers ?? []).flatMap((header) =>
      Object.entries(header).map(([name, content]): Header => [name, Buffer.from(content as Buffer)]),
    ),
  };
}
