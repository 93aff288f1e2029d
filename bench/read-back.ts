import { setTimeout as delay } from 'node:timers/promises';

import kafka from '@confluentinc/kafka-javascript';

import { call } from '../test/helpers/calls.ts';
import { partitionId } from '../src/pipeline/ports.ts';
import { waitFor } from '../test/helpers/wait.ts';
import { partitionsOf, type Rig } from './rig.ts';
import { Tally } from './tally.ts';

/** What a reader of committed records finds in a topic to which nobody writes any more. */
export interface Contents {
  readonly tally: Tally;
  /** When the first and the last record came into the log, ms since the epoch, where the topic has LogAppendTime. */
  readonly firstAt: number;
  readonly lastAt: number;
}

const BATCH = 5_000;
const STALL_MS = 30_000;

/** Reads a topic from its beginning to its end, `read_committed`. */
export async function readBack({ bootstrapServers, cluster }: Rig, topic: string): Promise<Contents> {
  const partitions = partitionsOf(topic);
  // The markers of the last transaction come a moment after its commit was confirmed.
  const ends = await waitFor('the last transaction to end', async () => {
    const found = await cluster.ends(partitions);
    return found.every(({ lastStable, highWatermark }) => lastStable === highWatermark) && found;
  });
  const unread = new Set(ends.filter(({ lastStable }) => lastStable > 0).map(partitionId));

  const consumer = await connectReader(bootstrapServers, topic, { 'enable.partition.eof': true });
  consumer.on('partition.eof', (end) => void unread.delete(partitionId(end)));
  const tally = new Tally();
  let firstAt = Infinity;
  let lastAt = -Infinity;
  let progressAt = performance.now();
  while (unread.size > 0) {
    const messages = await call<kafka.Message[]>((done) => consumer.consume(BATCH, done));
    for (const { key, value, timestamp = NaN } of messages) {
      tally.add(key as Buffer | null, value); // the client gives Buffers, whatever its types say
      firstAt = Math.min(firstAt, timestamp);
      lastAt = Math.max(lastAt, timestamp);
    }
    if (messages.length > 0) progressAt = performance.now();
    else if (performance.now() < progressAt + STALL_MS) await delay(5);
    else throw new Error(`can not read ${[...unread].join(', ')} to the end`);
  }
  await call<unknown>((done) => consumer.disconnect(done));
  return { tally, firstAt, lastAt };
}

/** Reads committed records of all partitions from the beginning, outside any group; `consume` gives what is there, and waits for nothing. */
export async function connectReader(
  bootstrapServers: string,
  topic: string,
  properties: Readonly<Record<string, boolean | (() => void)>>,
): Promise<kafka.KafkaConsumer> {
  const consumer = new kafka.KafkaConsumer(
    {
      'bootstrap.servers': bootstrapServers,
      'group.id': 'reads-without-a-group',
      'enable.auto.commit': false,
      'isolation.level': 'read_committed',
      'fetch.queue.backoff.ms': 10,
      log_level: 0,
      ...properties,
    },
    { 'auto.offset.reset': 'error' },
  );
  await call<unknown>((done) => consumer.connect({ timeout: 10_000 }, done));
  consumer.setDefaultConsumeTimeout(0);
  consumer.assign(partitionsOf(topic).map((partition) => ({ ...partition, offset: 0 })));
  return consumer;
}
