import { describe, expect } from 'vitest';

import type { Processor } from '../helpers/processor.ts';
import { it } from '../helpers/rig.ts';
import { startScenario, type Scenario } from '../helpers/scenario.ts';
import { workersOf } from '../helpers/workers.ts';
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

describe('SIGUSR2', () => {
  it('makes a running process print debug lines, and another one makes it stop', async ({ rig }) => {
    const run = await startScenario(rig, { config: { log: { format: 'json', level: 'warn' } } });
    const processor = await run.startReady('a');
    await untilQuiet(run, processor);
    processor.signal('SIGUSR2');
    await processor.untilLogged(/"logLevel":"debug"/);
    await run.seeder.send([workload()()]);
    await processor.until('a debug line', () => debugLines(processor).length > 0);
    processor.signal('SIGUSR2');
    await processor.untilLogged(/"logLevel":"warn"/);
    await untilQuiet(run, processor);
  });

  it('reaches workers, those that come later as well, and ends none', async ({ rig }) => {
    const run = await startScenario(rig, { pipeline: { workers: 2 } });
    const processor = await run.startReady('a');
    const feed = run.seeder.feed(workload(), 100);
    const areBothHeard = (from: number) => (): boolean =>
      [0, 1].every((worker) => debugLines(processor, from).some((line) => line.includes(`"worker":${worker}`)));
    processor.signal('SIGUSR2');
    await processor.until('debug lines of both', areBothHeard(0));
    const [killed] = workersOf(processor);
    process.kill(killed!.pid, 'SIGKILL');
    await processor.until('a successor', () => workersOf(processor)[0]!.pid !== killed!.pid);
    await processor.until('debug lines of both again', areBothHeard(processor.log.length));
    await feed.stop();

    const pids = workersOf(processor).map(({ pid }) => pid);
    process.kill(-processor.pid, 'SIGUSR2'); // to the workers, too
    await untilQuiet(run, processor);
    expect(workersOf(processor).map(({ pid }) => pid)).toEqual(pids);
  });
});

const debugLines = ({ log }: Processor, from = 0): string[] =>
  log.slice(from).filter((line) => line.includes('"level":"debug"'));

/** Waits until a record is committed without a debug line: the last ones may be on their way. */
async function untilQuiet(run: Scenario, processor: Processor): Promise<void> {
  await processor.until('no debug line', async () => {
    const from = processor.log.length;
    await run.seeder.send([workload()()]);
    await run.untilCaughtUp();
    return debugLines(processor, from).length === 0;
  });
}
