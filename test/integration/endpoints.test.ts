import { expect } from 'vitest';

import { it } from '../helpers/rig.ts';
import { startScenario } from '../helpers/scenario.ts';
import { expectationOf, workload } from '../helpers/workload.ts';

it('I10: counts what the readers count, and turns ready once it has joined the group', async ({ rig }) => {
  const run = await startScenario(rig);
  const processor = await run.start('a');
  const first = await processor.until('/ready to answer', () => processor.readiness(), { everyMs: 5 });
  expect(first.status, first.body).toBe(503);
  await processor.untilReady();
  await run.seeder.send(Array.from({ length: 1_000 }, workload()));

  const { evidence } = await run.judge();
  const { sources, visible } = evidence;
  const metrics = await processor.until('/metrics to answer', () => processor.metrics());
  const outcomes = sources.map((source) => expectationOf(run.outputs)(source).kind);
  const count = (kind: string): number => outcomes.filter((outcome) => outcome === kind).length;
  const inTopic = (topic: string): number => visible.filter((record) => record.topic === topic).length;

  expect(metrics.sum('millrace_records_consumed_total', { topic: run.input })).toBe(1_000);
  expect(metrics.sum('millrace_records_committed_total', { topic: run.input })).toBe(1_000);
  expect(metrics.sum('millrace_records_produced_total', { output: 'left' })).toBe(inTopic(run.outputs.left));
  expect(metrics.sum('millrace_records_produced_total', { output: 'right' })).toBe(inTopic(run.outputs.right));
  expect(metrics.sum('millrace_records_filtered_total')).toBe(count('filtered'));
  expect(metrics.sum('millrace_records_dead_lettered_total')).toBe(count('dead-letter'));
  expect(metrics.sum('millrace_records_dead_lettered_total', { error: 'PoisonRecord' })).toBe(25);
  expect(metrics.sum('millrace_transactions_total', { outcome: 'committed' })).toBeGreaterThan(0);
  expect(metrics.sum('millrace_transactions_total', { outcome: 'aborted' })).toBe(0);
  expect(metrics.sum('millrace_end_to_end_latency_seconds_count')).toBe(1_000);
  expect(metrics.sum('millrace_assigned_partitions')).toBe(4);
  expect(metrics.series('millrace_lag_records').map(({ value }) => value)).toEqual([0, 0, 0, 0]);
  expect(metrics.sum('process_resident_memory_bytes')).toBeGreaterThan(0);
});
