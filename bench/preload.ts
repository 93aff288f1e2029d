import { setTimeout as delay } from 'node:timers/promises';

import kafka from '@confluentinc/kafka-javascript';

import { call } from '../test/helpers/calls.ts';
import { PARTITIONS, partitionsOf, type Rig } from './rig.ts';
import { Tally } from './tally.ts';
import type { Workload, WorkloadName } from './workloads.ts';

export interface Input {
  readonly workload: WorkloadName;
  readonly topic: string;
  readonly records: number;
  /** What has to come out. */
  readonly expected: Tally;
}

const FLUSH_MS = 60_000;
const QUEUE_FULL = kafka.CODES.ERRORS.ERR__QUEUE_FULL;

/** Fills a topic with the first `records` records of a workload. */
export async function preload(rig: Rig, workload: Workload, records: number): Promise<Input> {
  const topic = `in-${workload.name}`;
  await rig.cluster.createTopic(topic, PARTITIONS);
  const expected = new Tally();
  const producer = await connectProducer(rig.bootstrapServers, 20);
  for (let index = 0; index < records; index++) {
    const { input, output } = workload.record(index);
    if (output) expected.add(output.key, output.value);
    while (!enqueued(producer, topic, input.key, input.value)) {
      producer.poll();
      await delay(5);
    }
  }
  await call<unknown>((done) => producer.flush(FLUSH_MS, (error) => done(error, null)));
  await call<unknown>((done) => producer.disconnect(done));

  const ends = await rig.cluster.ends(partitionsOf(topic));
  const delivered = ends.reduce((sum, { highWatermark }) => sum + highWatermark, 0);
  if (delivered !== records) throw new Error(`${topic} holds ${delivered} records instead of ${records}`);
  return { workload: workload.name, topic, records, expected };
}

export async function connectProducer(bootstrapServers: string, lingerMs: number): Promise<kafka.Producer> {
  const producer = new kafka.Producer(
    {
      'bootstrap.servers': bootstrapServers,
      'enable.idempotence': true,
      'compression.type': 'lz4',
      'linger.ms': lingerMs,
      dr_cb: false,
      log_level: 0,
    },
    { partitioner: 'murmur2_random' },
  );
  await call<unknown>((done) => producer.connect({ timeout: 10_000 }, done));
  return producer;
}

/** False where the client's queue is full. */
function enqueued(producer: kafka.Producer, topic: string, key: Buffer, value: Buffer): boolean {
  try {
    producer.produce(topic, null, value, key, Date.now());
    return true;
  } catch (error) {
    if ((error as { code?: number }).code !== QUEUE_FULL) throw error;
    return false;
  }
}
