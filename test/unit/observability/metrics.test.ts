import { beforeEach, describe, expect, it } from 'vitest';
import { createMetrics, type Metrics } from '../../../src/observability/metrics.ts';
import type { Committed, Observer, PipelineStatus } from '../../../src/pipeline/observer.ts';
import { scrape } from './scrape.ts';

const COMMIT: Committed = {
  records: new Map([['flights', 10]]),
  produced: new Map([
    ['on-time', 5],
    ['delayed', 2],
  ]),
  filtered: 2,
  deadLettered: new Map([['TypeError', 1]]),
  timestamps: [999_000, 999_960, -1, 1_000_500],
  at: 1_000_000,
  durationMs: 20,
};

function pipelineConfig(name: string) {
  const serde = { type: 'json' } as const;
  const output = (output: string) => ({ name: output, topic: `flights.${output}`, key: serde, value: serde });
  return {
    kind: 'pipeline' as const,
    name,
    input: { topics: ['flights'], key: serde, value: serde, startAt: 'earliest' as const, onDataLoss: 'stop' as const },
    outputs: [output('on-time'), output('delayed')],
  };
}

function running(pipeline: string, lags: readonly (number | null)[], worker = 0): PipelineStatus {
  const partitions = lags.map((lag, partition) => ({ topic: 'flights', partition, committed: 1, lag, held: null }));
  return { pipeline, worker, state: 'running', ready: true, reasons: [], partitions };
}

let statuses: PipelineStatus[];
let metrics: Metrics;
let observer: Partial<Observer>;

beforeEach(() => {
  statuses = [];
  metrics = createMetrics('1.2.3', () => statuses);
  observer = metrics.observer(pipelineConfig('route'));
});

describe('metrics', () => {
  it('count what a committed transaction settled', async () => {
    observer.committed?.(COMMIT);
    observer.committed?.(COMMIT);
    expect(await scrape(metrics)).toMatchObject({
      'millrace_records_committed_total{pipeline="route",topic="flights"}': 20,
      'millrace_records_produced_total{pipeline="route",output="on-time"}': 10,
      'millrace_records_produced_total{pipeline="route",output="delayed"}': 4,
      'millrace_records_filtered_total{pipeline="route"}': 4,
      'millrace_records_dead_lettered_total{pipeline="route",error="TypeError"}': 2,
      'millrace_transactions_total{pipeline="route",outcome="committed"}': 2,
      'millrace_transaction_duration_seconds_count{pipeline="route"}': 2,
      'millrace_transaction_duration_seconds_bucket{le="0.01",pipeline="route"}': 0,
      'millrace_transaction_duration_seconds_bucket{le="0.025",pipeline="route"}': 2,
    });
  });

  it('measure latency from the record to the commit, without records that have no timestamp', async () => {
    observer.committed?.(COMMIT);
    expect(await scrape(metrics)).toMatchObject({
      'millrace_end_to_end_latency_seconds_count{pipeline="route"}': 3,
      // A clock that is ahead counts as no latency, not as a negative one.
      'millrace_end_to_end_latency_seconds_sum{pipeline="route"}': 1.04,
      'millrace_end_to_end_latency_seconds_bucket{le="0.005",pipeline="route"}': 1,
      'millrace_end_to_end_latency_seconds_bucket{le="0.05",pipeline="route"}': 2,
      'millrace_end_to_end_latency_seconds_bucket{le="1",pipeline="route"}': 3,
    });
  });

  it('count a record that is years old as a day of latency, so that the others still show in the sum', async () => {
    observer.committed?.({ ...COMMIT, timestamps: [0], at: Date.UTC(2026, 0) });
    expect(await scrape(metrics)).toMatchObject({
      'millrace_end_to_end_latency_seconds_count{pipeline="route"}': 1,
      'millrace_end_to_end_latency_seconds_sum{pipeline="route"}': 86_400,
    });
  });

  it('count what happens outside of commits', async () => {
    const failure = { topic: 'flights', partition: 0, offset: 1, attempt: 1, error: new Error('no') };
    observer.consumed?.('flights', 7);
    observer.transformed?.(2);
    observer.retried?.({ ...failure, delayMs: 100 });
    observer.aborted?.('stale', null);
    observer.recycled?.('slow-call', null);
    observer.assigned?.([]);
    observer.revoked?.([]);
    observer.lost?.([]);
    observer.clientError?.('producer', new Error('down'));
    expect(await scrape(metrics)).toMatchObject({
      'millrace_records_consumed_total{pipeline="route",topic="flights"}': 7,
      'millrace_transform_duration_seconds_sum{pipeline="route"}': 0.002,
      'millrace_records_retried_total{pipeline="route"}': 1,
      'millrace_transactions_total{pipeline="route",outcome="aborted",reason="stale"}': 1,
      'millrace_producer_recycles_total{pipeline="route",reason="slow-call"}': 1,
      'millrace_rebalances_total{pipeline="route",event="assigned"}': 1,
      'millrace_rebalances_total{pipeline="route",event="revoked"}': 1,
      'millrace_rebalances_total{pipeline="route",event="lost"}': 1,
      'millrace_client_errors_total{pipeline="route",client="producer"}': 1,
    });
  });

  it('start every series at zero that can be known before', async () => {
    const samples = await scrape(metrics);
    expect(samples).toMatchObject({
      'millrace_records_produced_total{pipeline="route",output="delayed"}': 0,
      'millrace_transactions_total{pipeline="route",outcome="committed"}': 0,
      'millrace_transactions_total{pipeline="route",outcome="aborted",reason="lost"}': 0,
      'millrace_producer_recycles_total{pipeline="route",reason="unknown-commit"}': 0,
      'millrace_transform_duration_seconds_count{pipeline="route"}': 0,
    });
  });

  it('keep pipelines apart', async () => {
    metrics.observer(pipelineConfig('other')).committed?.(COMMIT);
    expect(await scrape(metrics)).toMatchObject({
      'millrace_records_committed_total{pipeline="route",topic="flights"}': 0,
      'millrace_records_committed_total{pipeline="other",topic="flights"}': 10,
      'millrace_end_to_end_latency_seconds_count{pipeline="route"}': 0,
      'millrace_end_to_end_latency_seconds_count{pipeline="other"}': 3,
    });
  });

  it('bound the error types that become labels', async () => {
    for (let i = 0; i < 1000; i++) observer.committed?.({ ...COMMIT, deadLettered: new Map([[`Error${i}`, 1]]) });
    const series = Object.entries(await scrape(metrics)).filter(([name]) => name.includes('dead_lettered_total'));
    expect(series).toHaveLength(31);
    expect(Object.fromEntries(series)).toMatchObject({
      'millrace_records_dead_lettered_total{pipeline="route",error="Error0"}': 1,
      'millrace_records_dead_lettered_total{pipeline="route",error="other"}': 970,
    });
  });

  it('read lag, assignment, held partitions and readiness off the status at each scrape', async () => {
    const status = running('route', [12, 0, null]);
    status.partitions[1]!.held = 'no dead-letter topic';
    statuses = [{ ...status, ready: false, reasons: ['a partition is held'] }];
    const samples = await scrape(metrics);
    expect(samples).toMatchObject({
      'millrace_lag_records{pipeline="route",topic="flights",partition="0"}': 12,
      'millrace_lag_records{pipeline="route",topic="flights",partition="1"}': 0,
      'millrace_assigned_partitions{pipeline="route",worker="0"}': 3,
      'millrace_held_partitions{pipeline="route",worker="0"}': 1,
      'millrace_ready{pipeline="route",worker="0"}': 0,
    });
    expect(samples).not.toHaveProperty(['millrace_lag_records{pipeline="route",topic="flights",partition="2"}']);
  });

  it('drop the series of a partition that is no longer assigned', async () => {
    statuses = [running('route', [1, 2])];
    await scrape(metrics);
    statuses = [running('route', [1])];
    const samples = await scrape(metrics);
    expect(Object.keys(samples).filter((name) => name.startsWith('millrace_lag_records'))).toEqual([
      'millrace_lag_records{pipeline="route",topic="flights",partition="0"}',
    ]);
    expect(samples).toMatchObject({
      'millrace_assigned_partitions{pipeline="route",worker="0"}': 1,
      'millrace_ready{pipeline="route",worker="0"}': 1,
    });
  });

  it('tell the build and the process', async () => {
    const samples = await scrape(metrics);
    expect(samples[`millrace_build_info{version="1.2.3",node="${process.version}"}`]).toBe(1);
    expect(samples['process_resident_memory_bytes']).toBeGreaterThan(1e6);
    expect(samples['nodejs_heap_size_used_bytes']).toBeGreaterThan(1e6);
  });

  it('have gauges for each worker', async () => {
    statuses = [running('route', [1, 2]), { ...running('route', [], 1), ready: false }];
    expect(await scrape(metrics)).toMatchObject({
      'millrace_assigned_partitions{pipeline="route",worker="0"}': 2,
      'millrace_assigned_partitions{pipeline="route",worker="1"}': 0,
      'millrace_ready{pipeline="route",worker="0"}': 1,
      'millrace_ready{pipeline="route",worker="1"}': 0,
    });
  });
});
