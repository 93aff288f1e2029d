import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { Aggregate, type MetricsSnapshot } from '../../../src/observability/aggregate.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { parseSamples } from './scrape.ts';

const serde = { type: 'json' } as const;
const FLOW = {
  kind: 'pipeline' as const,
  name: 'route',
  input: { topics: ['flights'], key: serde, value: serde, startAt: 'earliest' as const, onDataLoss: 'stop' as const },
  outputs: [],
};

/** What a worker sends that has committed so many records, as it arrives through the channel between processes. */
async function snapshotOf(worker: number, records: number): Promise<MetricsSnapshot> {
  const { registry, ...metrics } = createMetrics('1.2.3', () => [], { worker: `route.${worker}` });
  metrics.observer(FLOW).committed?.({
    records: new Map([['flights', records]]),
    produced: new Map(),
    filtered: 0,
    deadLettered: new Map(),
    timestamps: [Date.now() - 1_000],
    at: Date.now(),
    durationMs: 20,
  });
  return deserialize(serialize(await registry.getMetricsAsJSON())) as MetricsSnapshot;
}

const COMMITTED = 'millrace_records_committed_total{pipeline="route",topic="flights"}';
const LATENCIES = 'millrace_end_to_end_latency_seconds_count{pipeline="route"}';
const memoryOf = (worker: number): string => `process_resident_memory_bytes{worker="route.${worker}"}`;

describe('the page of several processes', () => {
  it('adds up what the workers count, and keeps what is of one process apart', async () => {
    const samples = parseSamples(
      await new Aggregate().join([await snapshotOf(0, 10), await snapshotOf(1, 5)]).metrics(),
    );
    expect(samples).toMatchObject({
      [COMMITTED]: 15,
      [LATENCIES]: 2,
      'millrace_transaction_duration_seconds_count{pipeline="route"}': 2,
      [`millrace_build_info{version="1.2.3",node="${process.version}"}`]: 1,
    });
    expect(samples[memoryOf(0)]).toBeGreaterThan(1e6);
    expect(samples[memoryOf(1)]).toBeGreaterThan(1e6);
  });

  it('never counts less because a process has ended, and shows nothing else of it any more', async () => {
    const aggregate = new Aggregate();
    const [first, second] = [await snapshotOf(0, 10), await snapshotOf(1, 5)];
    aggregate.retire(first);
    aggregate.retire(await snapshotOf(0, 100));
    const samples = parseSamples(await aggregate.join([second]).metrics());
    expect(samples).toMatchObject({ [COMMITTED]: 115, [LATENCIES]: 3 });
    expect(samples).not.toHaveProperty([memoryOf(0)]);
    expect(samples[memoryOf(1)]).toBeGreaterThan(1e6);
  });
});
