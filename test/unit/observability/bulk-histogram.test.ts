import { AggregatorRegistry, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { BulkHistogram } from '../../../src/observability/bulk-histogram.ts';

const SPEC = { name: 'latency_seconds', help: 'How long "it" took.', buckets: [0.001, 0.01, 0.1, 1, 10] };
const PIPELINES = ['one', 'two "quoted"'];

/** Values on, between and outside of the bounds. */
function observations(seed: number): number[] {
  const spread = Array.from({ length: 500 }, (_, i) => ((i * 7919 + seed) % 1013) ** 2 / 100_000);
  return [0, 0.001, 0.0011, 1, 10, 11, ...spread];
}

function ours(seed: number): Registry {
  const registry = new Registry();
  const histogram = new BulkHistogram({ ...SPEC, registry });
  for (const pipeline of PIPELINES) {
    const series = histogram.labels({ pipeline });
    for (const value of observations(seed)) series.observe(value);
  }
  return registry;
}

function theirs(seed: number): Registry {
  const registry = new Registry();
  const histogram = new Histogram({ ...SPEC, labelNames: ['pipeline'], registers: [registry] });
  for (const pipeline of PIPELINES) {
    for (const value of observations(seed)) histogram.observe({ pipeline }, value);
  }
  return registry;
}

/** What a supervisor shows for workers whose registries reach it as JSON. */
async function aggregated(workers: Registry[]): Promise<string> {
  const messages = await Promise.all(workers.map((worker) => worker.getMetricsAsJSON()));
  return AggregatorRegistry.aggregate(JSON.parse(JSON.stringify(messages)) as object[]).metrics();
}

function nanosecondsPerCall(calls: number, run: (value: number) => void): number {
  const start = process.hrtime.bigint();
  for (let i = 0; i < calls; i++) run((i % 1000) / 100_000);
  return Number(process.hrtime.bigint() - start) / calls;
}

describe('the bulk histogram', () => {
  it("shows a scraper exactly what prom-client's histogram shows for the same observations", async () => {
    expect(await ours(1).metrics()).toBe(await theirs(1).metrics());
  });

  it("is summed over workers by prom-client's aggregator like prom-client's own", async () => {
    expect(await aggregated([ours(1), ours(2), ours(3)])).toBe(await aggregated([theirs(1), theirs(2), theirs(3)]));
  });

  it('shows a series at zero before its first observation', async () => {
    const registry = new Registry();
    new BulkHistogram({ ...SPEC, registry }).labels({ pipeline: 'idle' });
    expect(await registry.metrics()).toContain('latency_seconds_count{pipeline="idle"} 0');
  });

  it('starts again at zero when the registry is reset', async () => {
    const registry = ours(1);
    registry.resetMetrics();
    const metrics = await registry.metrics();
    expect(metrics).toContain('latency_seconds_count{pipeline="one"} 0');
    expect(metrics).toContain('latency_seconds_sum{pipeline="one"} 0');
  });

  it("takes an observation in a small fraction of prom-client's time", () => {
    const registers = [new Registry()];
    const bulk = new BulkHistogram({ ...SPEC, registry: new Registry() }).labels({ pipeline: 'one' });
    const slow = new Histogram({ ...SPEC, labelNames: ['pipeline'], registers }).labels({ pipeline: 'one' });
    nanosecondsPerCall(200_000, bulk.observe); // Let it be compiled.
    const ratio =
      nanosecondsPerCall(100_000, (value) => slow.observe(value)) / nanosecondsPerCall(1_000_000, bulk.observe);
    expect(ratio).toBeGreaterThan(5);
  });
});
