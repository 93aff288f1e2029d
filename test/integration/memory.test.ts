import { expect } from 'vitest';

import { partitionId } from '../../src/pipeline/ports.ts';
import type { Processor } from '../helpers/processor.ts';
import { it } from '../helpers/rig.ts';
import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { workersOf } from '../helpers/workers.ts';
import { TRANSFORM, workload } from '../helpers/workload.ts';

const KEPT_BYTES = 48 << 10;
const PER_SECOND = 300;
/** What a few seconds without a commit are, at most, the commit interval included. */
const PAUSE_MS = 5_000;
const PATIENCE = { timeoutMs: 90_000 };

/** The workload's transform, which never lets go of memory that each record takes. */
const LEAKING = `const kept: Buffer[] = [];\n${TRANSFORM.replace('=> {', `=> {\n  kept.push(Buffer.alloc(${KEPT_BYTES}, 1));`)}`;

const lines = ({ log }: Processor, text: string): number => log.filter((line) => line.includes(text)).length;

it('replaces a worker whose memory passes the limit: no partition moves, and all pause for a few seconds at most', async ({
  rig,
}) => {
  const run = await startScenario(rig, {
    transform: LEAKING,
    pipeline: { workers: 2 },
    consumer: { sessionTimeout: '30s' },
    config: { worker: { maxMemory: '256MiB' } },
  });
  const processor = await run.startReady('a');
  const ownership = async (): Promise<string[]> =>
    (await rig.cluster.members(run.group)).map(({ memberId, partitions }) => {
      const name = memberId.slice(0, `${run.group}.a.0`.length);
      return `${name}: ${[...partitions].sort().join(' ')}`;
    });
  await waitFor('each to have its share', async () =>
    (await ownership()).every((share) => share.split(' ').length === 3),
  );
  const before = (await ownership()).sort();
  const assignments = lines(processor, '"partitions assigned"');
  const starts = workersOf(processor).length;

  const next = workload();
  let sent = 0;
  const feed = run.seeder.feed(() => ({ ...next(), partition: sent++ % 4 }), PER_SECOND);
  await run.untilCommitted(PER_SECOND);
  const progress = new Map<string, { offset: number; at: number }>();
  let longestPauseMs = 0;
  const isReplaced = async (): Promise<boolean> => {
    const now = performance.now();
    for (const [partition, offset] of await rig.cluster.committed(run.group, run.inputPartitions)) {
      const known = progress.get(partition);
      if (known && offset === known.offset) continue;
      if (known) longestPauseMs = Math.max(longestPauseMs, now - known.at);
      progress.set(partition, { offset, at: now });
    }
    return lines(processor, '"worker starts"') >= starts + 3 && (await run.hasOpenTransaction('a'));
  };
  await processor.until('three replacements', isReplaced, { ...PATIENCE, everyMs: 50 });
  await processor.untilReady();
  await run.untilCaughtUp();
  await feed.stop();
  rig.expose({
    longestPauseMs: Math.round(longestPauseMs),
    replacements: lines(processor, '"worker starts"') - starts,
  });
  console.info(`longest pause of a partition: ${Math.round(longestPauseMs)} ms`);
  await run.judge();

  expect(longestPauseMs).toBeLessThan(PAUSE_MS);
  expect((await ownership()).sort()).toEqual(before);
  // Each new process is given its partitions once; to the other worker nothing happens.
  expect(lines(processor, '"partitions assigned"') - assignments).toBe(lines(processor, '"worker starts"') - starts);
  const metrics = await processor.until('/metrics to answer', () => processor.metrics());
  expect(metrics.sum('millrace_worker_restarts_total', { reason: 'crash' })).toBe(0);
  expect(metrics.sum('millrace_worker_restarts_total', { reason: 'memory' })).toBeGreaterThanOrEqual(3);
  // The counts of the processes that are gone are still in it.
  expect(metrics.sum('millrace_records_committed_total')).toBe(sent);
  expect(run.inputPartitions.map(partitionId)).toHaveLength(progress.size);
});

it('says that the limit is below what a worker needs, and goes on with ever fewer replacements', async ({ rig }) => {
  const run = await startScenario(rig, { config: { worker: { maxMemory: '64MiB' } } });
  const processor = await run.startReady('a');
  const feed = run.seeder.feed(workload(), 200);
  await processor.untilLogged(/worker\.maxMemory is too low: this worker holds \d+ MiB/);
  await processor.until('a replacement', () => lines(processor, '"worker starts"') === 2, PATIENCE);
  await processor.untilLogged(/not replaced for another (19|20) s/, PATIENCE);
  await feed.stop();
  await run.judge();
  expect(lines(processor, '"worker starts"')).toBe(2);
});
