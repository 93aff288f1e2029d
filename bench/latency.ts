import { setTimeout as delay } from 'node:timers/promises';

import type kafka from '@confluentinc/kafka-javascript';

import { call } from '../test/helpers/calls.ts';
import { type Contender, start } from './contender.ts';
import { connectProducer } from './preload.ts';
import { connectReader } from './read-back.ts';
import { PARTITIONS, type Rig } from './rig.ts';
import type { Measured } from './rounds.ts';
import { percentile } from './statistics.ts';
import { identity } from './workloads.ts';

export interface Latency extends Measured {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly peakBytes: number;
}

const PER_SECOND = 1_000;
const WARM_UP_MS = 5_000;
const MEASURED_MS = 20_000;
/** From the start of the process to its first record out. */
const START_LIMIT_MS = 30_000;
/** From the last record in to the last record out; what should not be there comes within it too. */
const SETTLE_MS = 2_000;
const READ_BATCH = 1_000;

/**
 * A steady trickle through one process. A record's latency is from just before this process sends it to the return of
 * the poll that brings it back to this same process, committed: on one clock.
 */
export async function measureLatency(rig: Rig, contender: Contender, run: string): Promise<Latency> {
  const { bootstrapServers, cluster, millrace } = rig;
  const input = `in-${run}`;
  const output = `out-${run}`;
  for (const topic of [input, output]) await cluster.createTopic(topic, PARTITIONS);

  const trips = new RoundTrips();
  const reader = await startReading(bootstrapServers, output, trips);
  const sender = await startSending(bootstrapServers, input, trips);
  const job = { workload: identity.name, bootstrapServers, input, output, group: `group-${run}` };
  const running = start(contender, job, millrace);
  try {
    const startBy = performance.now() + START_LIMIT_MS;
    while (trips.returned === 0) {
      running.check();
      if (performance.now() > startBy) throw new Error(`${contender} has written nothing\n${running.lastWords()}`);
      await delay(50);
    }
    await delay(WARM_UP_MS);
    const from = trips.sent;
    await delay(MEASURED_MS);
    const to = trips.sent;
    await sender.stop();
    await delay(SETTLE_MS);
    running.check();
    const latencies = trips.between(from, to);
    return {
      p50Ms: percentile(latencies, 0.5),
      p99Ms: percentile(latencies, 0.99),
      maxMs: percentile(latencies, 1),
      peakBytes: running.usage.peakBytes,
      wrong: trips.wrong(),
    };
  } finally {
    await sender.stop();
    await running.stop();
    await reader.stop();
    await cluster.deleteTopics([input, output]);
  }
}

/** When each record, by its number, was sent and came back. */
class RoundTrips {
  readonly #sentAt: number[] = [];
  readonly #returnedAt: number[] = [];
  #repeated = 0;
  returned = 0;

  get sent(): number {
    return this.#sentAt.length;
  }

  send(): number {
    return this.#sentAt.push(performance.now()) - 1;
  }

  return(index: number, at: number): void {
    if (this.#returnedAt[index] !== undefined) this.#repeated++;
    this.#returnedAt[index] = at;
    this.returned++;
  }

  /** Latencies of the records from one number to another; those that have not come back are not among them. */
  between(from: number, to: number): number[] {
    return this.#returnedAt.slice(from, to).map((at, index) => at - (this.#sentAt[from + index] ?? NaN));
  }

  wrong(): string | null {
    if (this.returned === this.sent && this.#repeated === 0) return null;
    return `${this.returned} records instead of ${this.sent}, ${this.#repeated} of them twice`;
  }
}

async function startSending(bootstrapServers: string, topic: string, trips: RoundTrips) {
  const producer = await connectProducer(bootstrapServers, 0);
  const started = performance.now();
  const timer = setInterval(() => {
    // By the clock, not by the tick: a busy machine makes ticks late.
    const due = ((performance.now() - started) / 1_000) * PER_SECOND;
    while (trips.sent < due) {
      const { key, value } = identity.record(trips.sent).input;
      value.writeUInt32BE(trips.send());
      producer.produce(topic, null, value, key, Date.now());
    }
    producer.poll();
  }, 1);
  let stopped: Promise<unknown> | undefined;
  return {
    stop: () => {
      clearInterval(timer);
      return (stopped ??= call<unknown>((done) => producer.disconnect(done)));
    },
  };
}

async function startReading(bootstrapServers: string, topic: string, trips: RoundTrips) {
  let stopping = false;
  let awaken = (): void => undefined;
  const reader = await connectReader(bootstrapServers, topic, { queue_non_empty_cb: () => awaken() });
  const reading = (async () => {
    while (!stopping) {
      const filled = new Promise<void>((resolve) => (awaken = resolve));
      const messages = await call<kafka.Message[]>((done) => reader.consume(READ_BATCH, done));
      const now = performance.now();
      for (const { value } of messages) if (value) trips.return(value.readUInt32BE(), now);
      if (messages.length === 0) await filled;
    }
  })();
  return {
    async stop() {
      stopping = true;
      awaken();
      await reading;
      await call<unknown>((done) => reader.disconnect(done));
    },
  };
}
