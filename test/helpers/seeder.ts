import kafka from '@confluentinc/kafka-javascript';

import { call } from './calls.ts';
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

const TICK_MS = 20;

export async function startSeeder(bootstrapServers: string, topic: string): Promise<Seeder> {
  const producer = new kafka.Producer(
    {
      'bootstrap.servers': bootstrapServers,
      'enable.idempotence': true,
      'linger.ms': 5,
      // Longer than any broker's absence in the tests: a seed may be late, not lost.
      'message.timeout.ms': 120_000,
      dr_cb: true,
      log_level: 0,
    },
    { partitioner: 'murmur2_random' },
  );
  let sent = 0;
  let acknowledged = 0;
  const failures: string[] = [];
  const feeds = new Set<NodeJS.Timeout>();
  const ends = new Map<string, number>();
  producer.on('delivery-report', (error: kafka.LibrdKafkaError | null, report) => {
    if (error) {
      failures.push(error.message);
      return;
    }
    acknowledged++;
    ends.set(partitionId(report), report.offset + 1);
  });
  await call<unknown>((done) => producer.connect({ timeout: 10_000 }, done));
  producer.setPollInterval(TICK_MS);

  const enqueue = ({ key, value, headers, timestamp, partition }: Seed): void => {
    const own = headers?.map((header) => ({ ...header }));
    producer.produce(topic, partition ?? null, value, key, timestamp ?? Date.now(), null, own);
    sent++;
  };
  const allAcknowledged = async (): Promise<void> => {
    await waitFor('the seeds to be acknowledged', () => acknowledged + failures.length === sent, {
      timeoutMs: 60_000,
      seen: () => `${acknowledged} of ${sent}`,
    });
    if (failures.length > 0) throw new Error(`${failures.length} seeds failed: ${failures[0] ?? ''}`);
  };

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
      await call<unknown>((done) => producer.disconnect(done));
    },
  };
}
