import { readFileSync } from 'node:fs';

import { describe, expect } from 'vitest';

import { median } from '../../bench/statistics.ts';
import { COPY, copied } from '../helpers/copy.ts';

import { SESSION_TIMEOUT_MS } from '../helpers/pipeline-config.ts';
import type { Processor } from '../helpers/processor.ts';
import { it } from '../helpers/rig.ts';
import { startScenario, type Scenario } from '../helpers/scenario.ts';
import type { Seed } from '../helpers/seeder.ts';
import { waitFor } from '../helpers/wait.ts';
import { isAlive, workersOf } from '../helpers/workers.ts';
import { workload } from '../helpers/workload.ts';

const CLEAN = { code: 0, signal: null };
const GRACE_MS = 10_000;
const pipeline = { workers: 2 };
const pids = (processor: Processor): number[] => workersOf(processor).map(({ pid }) => pid);
const ONE: Seed = { key: null, value: Buffer.from('{}') };

it('share the partitions, and are one to whoever asks how they are', async ({ rig }) => {
  const run = await startScenario(rig, { pipeline });
  const processor = await run.startReady('a');
  await waitFor('both to have a share', async () => {
    const shares = (await rig.cluster.members(run.group)).map(({ partitions }) => partitions.length);
    return shares.length === 2 && shares.every((share) => share === 2);
  });
  await run.seeder.send(Array.from({ length: 1_000 }, workload()));
  await run.judge();

  const metrics = await processor.until('/metrics to answer', () => processor.metrics());
  expect(metrics.sum('millrace_records_committed_total')).toBe(1_000);
  expect(metrics.sum('millrace_end_to_end_latency_seconds_count')).toBe(1_000);
  expect(metrics.sum('millrace_workers_running')).toBe(2);
  expect(metrics.series('millrace_ready').map(({ labels, value }) => [labels['worker'], value])).toEqual([
    ['0', 1],
    ['1', 1],
  ]);
  expect(metrics.series('millrace_lag_records').map(({ value }) => value)).toEqual([0, 0, 0, 0]);
  expect(metrics.series('process_resident_memory_bytes').map(({ labels }) => labels['worker'])).toEqual([
    'supervisor',
    'p.0',
    'p.1',
  ]);
  const ids = (await rig.cluster.transactions()).map(({ transactionalId }) => transactionalId);
  expect(ids.filter((id) => id.startsWith(run.group)).sort()).toEqual([`${run.group}.a.0`, `${run.group}.a.1`]);

  const hasClient = (pid: number) => readFileSync(`/proc/${pid}/maps`, 'utf8').includes('librdkafka');
  expect([processor.pid, ...pids(processor)].map(hasClient)).toEqual([false, true, true]);
  processor.signal('SIGTERM');
  expect(await processor.untilExit()).toEqual(CLEAN);
});

describe('kills', () => {
  it('of a worker, of the supervisor and of all, in any order under load, leave each record its one result', async ({
    rig,
  }) => {
    const run = await startScenario(rig, { partitions: 6, pipeline });
    let processor = await run.startReady('a');
    const feed = run.seeder.feed(workload(), 400);
    for (const victim of ['worker', 'supervisor', 'worker', 'all', 'worker', 'supervisor'] as const) {
      await processor.until('an open transaction', () => run.hasOpenTransaction('a'), { everyMs: 5 });
      if (victim === 'worker') await killWorker(processor, 0);
      else {
        const workers = pids(processor);
        // Gone is the supervisor for the helper when all are that hold its output: its workers end with it.
        if (victim === 'supervisor') await processor.crash();
        else await processor.kill();
        expect(workers.filter(isAlive)).toEqual([]);
        processor = await run.start('a');
      }
      await run.untilCaughtUp();
      await processor.untilReady();
    }
    await feed.stop();
    const { exposure } = await run.judge();
    expect(exposure.abortedRecords).toBeGreaterThan(0);
    const metrics = await processor.until('/metrics to answer', () => processor.metrics());
    expect(metrics.sum('millrace_worker_restarts_total')).toBe(0); // the last supervisor had no reason
  });

  it('of one of two workers keep its partitions from getting on for less than the session timeout and 5 s', async ({
    rig,
  }) => {
    // Each kill as if it were the first.
    const run = await startScenario(rig, { pipeline, config: { worker: { restart: { resetAfter: '1s' } } } });
    const processor = await run.startReady('a');
    const next = workload();
    let sent = 0;
    // A steady trickle into each partition.
    const feed = run.seeder.feed(() => ({ ...next(), partition: sent++ % 4 }), 200);
    const recoveries: number[] = [];
    for (let round = 0; round < 10; round++) {
      const worker = round % 2;
      const owned = await ownedBy(run, rig.cluster, `a.${worker}`);
      await processor.until('an open transaction', () => run.hasOpenTransaction('a'), { everyMs: 5 });
      const killedAt = performance.now();
      await killWorker(processor, worker);
      const before = await rig.cluster.committed(run.group, run.inputPartitions);
      await processor.until(
        'its partitions to get on',
        async () => {
          const now = await rig.cluster.committed(run.group, run.inputPartitions);
          return owned.every((partition) => (now.get(partition) ?? 0) > (before.get(partition) ?? 0));
        },
        { everyMs: 20, timeoutMs: SESSION_TIMEOUT_MS + 5_000 },
      );
      recoveries.push(performance.now() - killedAt);
      await processor.untilReady();
    }
    await feed.stop();
    rig.expose({
      medianRecoveryMs: Math.round(median(recoveries)),
      slowestRecoveryMs: Math.round(Math.max(...recoveries)),
    });
    console.info(`recoveries in ms: ${recoveries.map(Math.round).join(' ')}; median ${Math.round(median(recoveries))}`);
    await run.judge();
    const metrics = await processor.until('/metrics to answer', () => processor.metrics());
    expect(metrics.sum('millrace_worker_restarts_total', { reason: 'crash' })).toBe(10);
  });
});

/** SIGKILL, and the wait until the supervisor has put another process in its place. */
async function killWorker(processor: Processor, worker: number): Promise<void> {
  const pid = pids(processor)[worker] ?? NaN;
  process.kill(pid, 'SIGKILL');
  await processor.until('another process in its place', () => pids(processor)[worker] !== pid, { everyMs: 10 });
}

/** Static members have the name that they are known by in front of their id. */
async function ownedBy(
  { group, inputPartitions }: Scenario,
  cluster: { members(group: string): Promise<{ memberId: string; partitions: string[] }[]> },
  member: string,
): Promise<string[]> {
  return waitFor(`${member} to have its share`, async () => {
    const found = (await cluster.members(group)).find(({ memberId }) => memberId.startsWith(`${group}.${member}-`));
    return found?.partitions.length === inputPartitions.length / 2 && found.partitions;
  });
}

describe('a worker that ends', () => {
  const quick = { worker: { restart: { attempts: 2, minDelay: '50ms' } } };

  it('again and again is given up with exit code 1, its name and its last words', async ({ rig }) => {
    const run = await startScenario(rig, {
      pipeline,
      config: quick,
      transform: `export default () => { process.stderr.write('out of luck\\n'); process.kill(process.pid, 'SIGKILL'); };`,
    });
    const processor = await run.startReady('a');
    await run.seeder.send([ONE]);
    expect(await processor.untilExit({ timeoutMs: 60_000 })).toEqual({ code: 1, signal: null });
    expect(processor.log.at(-1)).toMatch(
      /worker [01] of pipeline p was ended by SIGKILL: out of luck; it is given up after 2 restarts in a row/,
    );
    expect(pids(processor).filter(isAlive)).toEqual([]);
  });

  it('since it can not go on is not started in vain', async ({ rig }) => {
    const run = await startScenario(rig, {
      pipeline: { ...pipeline, onError: 'stop', deadLetter: undefined, retry: { attempts: 1 } },
      config: quick,
      transform: `export default () => { throw new Error('no way'); };`,
    });
    const processor = await run.startReady('a');
    await run.seeder.send([ONE]);
    expect(await processor.untilExit()).toEqual({ code: 1, signal: null });
    expect(processor.log.at(-1)).toMatch(/worker [01] of pipeline p .*no way/);
    expect(processor.log.filter((line) => line.includes('worker starts'))).toHaveLength(2);
  });

  it('since its module can not be loaded has that said once, with exit code 2', async ({ rig }) => {
    const run = await startScenario(rig, { pipeline, transform: 'export const nothing = 1;\n' });
    const processor = await run.start('a');
    expect((await processor.untilExit()).code).toBe(2);
    expect(processor.log.filter((line) => line.includes('transform.ts'))).toHaveLength(1);
  });

  it('in order, without being told to, is started again', async ({ rig }) => {
    const run = await startScenario(rig, { pipeline });
    const processor = await run.startReady('a');
    const feed = run.seeder.feed(workload(), 300);
    const [first = NaN] = pids(processor);
    process.kill(first, 'SIGTERM');
    await processor.until('another process in its place', () => pids(processor)[0] !== first);
    await processor.untilReady();
    await feed.stop();
    await run.judge();
  });
});

describe('a stop', () => {
  it.for([
    ['SIGTERM to the supervisor', (processor: Processor) => processor.signal('SIGTERM')],
    ['Ctrl-C, which reaches the workers too,', (processor: Processor) => processor.interrupt()],
  ] as const)('by %s ends all of them in order', async ([, stop], { rig }) => {
    const run = await startScenario(rig, { pipeline, config: { shutdown: { grace: `${GRACE_MS}ms` } } });
    const processor = await run.startReady('a');
    const feed = run.seeder.feed(workload(), 400);
    await processor.until('an open transaction', () => run.hasOpenTransaction('a'), { everyMs: 5 });
    stop(processor);
    expect(await processor.untilExit({ timeoutMs: GRACE_MS })).toEqual(CLEAN);
    expect(await run.hasUndecidedTransaction('a'), 'a transaction left to time out').toBe(false);
    expect(processor.log.at(-1)).toContain('"stopped"');

    await run.startReady('a');
    await feed.stop();
    await run.judge();
  });

  /** Nothing ends a worker in order whose transform holds its event loop. */
  const HOLDING = `export default () => { console.error('holds'); for (;;); };`;

  it.for([
    ['a second signal', '10m', true],
    ['the end of the grace', '1s', false],
  ] as const)('is forced by %s on a worker that does not end', async ([, grace, again], { rig }) => {
    const run = await startScenario(rig, {
      pipeline,
      config: { shutdown: { grace } },
      transform: HOLDING,
      expect: copied,
    });
    const processor = await run.startReady('a');
    await run.seeder.send([ONE]);
    await processor.untilLogged(/holds/);
    const workers = pids(processor);
    processor.signal('SIGTERM');
    await processor.untilLogged(/stops: /);
    if (again) processor.signal('SIGTERM');
    expect(await processor.untilExit({ timeoutMs: 5_000 })).toEqual({ code: null, signal: 'SIGKILL' });
    expect(workers.filter(isAlive)).toEqual([]);

    await rig.write('transform.ts', COPY);
    await run.startReady('a');
    await run.judge();
  });
});
