import kafka from '@confluentinc/kafka-javascript';

import { call } from './calls.ts';
import { REPORTING, watchCutOff } from './cut-off.ts';
import { partitionId } from '../../src/pipeline/ports.ts';
import { waitFor } from './wait.ts';

export interface Seed {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: readonly { readonly [name: string]: Buffer }[];
  /** Milliseconds since the epoch; now when absent. */
  readonly timestamp?: number;
  /** Left to the key's hash when absent. */
  readonly partition?: number;
}

/** An idempotent producer that fills the input. */
export interface Seeder {
  /** Where each partition ended when its last record was acknowledged, by partition. */
  ends(): ReadonlyMap<string, number>;
  /** Resolves when all of them are acknowledged. */
  send(seeds: Iterable<Seed>): Promise<void>;
  /** Sends what `next` gives, steadily, until the feed is stopped. */
  feed(next: () => Seed, perSecond: number): Feed;
  close(): Promise<void>;
}

export interface Feed {
  /** Resolves when all that was sent is acknowledged. */
  stop(): Promise<void>;
}

export interface SeederOptions {
  /** Whether a seed that may stand in the topic already is sent once more rather than given up: by default it is. */
  readonly resends?: boolean;
}

const TICK_MS = 20;

export async function startSeeder(
  bootstrapServers: string,
  topic: string,
  { resends = true }: SeederOptions = {},
): Promise<Seeder> {
  /** What the broker has not acknowledged. */
  const outstanding = new Set<Seed>();
  let sent = 0;
  let failure = '';
  const feeds = new Set<NodeJS.Timeout>();
  const ends = new Map<string, number>();

  async function connect() {
    const producer = new kafka.Producer(
      {
        'bootstrap.servers': bootstrapServers,
        'enable.idempotence': true,
        'linger.ms': 5,
        // Longer than any broker's absence in the tests: a seed may be late, not lost.
        'message.timeout.ms': 120_000,
        dr_cb: true,
        log_level: 0,
        ...REPORTING,
      },
      { partitioner: 'murmur2_random' },
    );
    producer.on('delivery-report', (error: kafka.LibrdKafkaError | null, report) => {
      if (error) {
        failure = error.message;
        return;
      }
      outstanding.delete(report.opaque as Seed);
      ends.set(partitionId(report), Math.max(ends.get(partitionId(report)) ?? 0, report.offset + 1));
    });
    const watch = watchCutOff(producer);
    await call<unknown>((done) => producer.connect({ timeout: 10_000 }, done));
    producer.setPollInterval(TICK_MS);
    return { producer, watch };
  }

  let { producer, watch } = await connect();
  const disconnect = (): Promise<unknown> => call<unknown>((done) => producer.disconnect(done));
  /** False from when a producer was found cut off until the next one is connected. */
  let isConnected = true;
  let replacing: Promise<void> | null = null;
  const produce = (seed: Seed): void => {
    const { key, value, headers, timestamp, partition } = seed;
    const own = headers?.map((header) => ({ ...header }));
    producer.produce(topic, partition ?? null, value, key, timestamp ?? Date.now(), seed, own);
  };
  const replace = async (): Promise<void> => {
    if (isConnected) {
      isConnected = false;
      await disconnect();
    }
    ({ producer, watch } = await connect());
    isConnected = true;
    // Some of them may have been written all the same, and stand there twice then: sources like any other.
    for (const seed of outstanding) produce(seed);
  };
  const checking = setInterval(() => {
    if (!resends || !watch.isCutOff || replacing) return;
    replacing = replace()
      .catch((error: unknown) => {
        failure = `a new producer: ${String(error)}`; // the next check tries again
      })
      .finally(() => (replacing = null));
  }, 1_000);

  const enqueue = (seed: Seed): void => {
    outstanding.add(seed);
    sent++;
    if (isConnected) produce(seed);
  };
  const areAcknowledged = (): boolean => {
    if (!resends && watch.isCutOff) throw new Error(`the seeder lost all brokers with ${outstanding.size} seeds open`);
    return outstanding.size === 0;
  };
  const allAcknowledged = (): Promise<unknown> =>
    waitFor('the seeds to be acknowledged', areAcknowledged, {
      timeoutMs: 90_000,
      seen: () => `${outstanding.size} of ${sent} are not\n${failure}`,
    });

  return {
    ends: () => new Map(ends),
    async send(seeds) {
      for (const seed of seeds) enqueue(seed);
      await allAcknowledged();
    },
    feed(next, perSecond) {
      const started = Date.now();
      let fed = 0;
      const timer = setInterval(() => {
        // By the clock, not by the tick: a busy machine makes ticks late.
        for (const due = ((Date.now() - started) / 1_000) * perSecond; fed < due; fed++) enqueue(next());
      }, TICK_MS);
      feeds.add(timer);
      return {
        async stop() {
          clearInterval(timer);
          await allAcknowledged();
        },
      };
    },
    async close() {
      feeds.forEach(clearInterval);
      clearInterval(checking);
      await replacing;
      if (isConnected) await disconnect();
    },
  };
}
