import { expect } from 'vitest';

import type { Processor } from '../helpers/processor.ts';
import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import { rowsWith } from './rows.ts';

const row = rowsWith();

const PARTITIONS = 6;
const ROUNDS = 4;

const counted = async (processor: Processor, name: string, labels = {}): Promise<number> =>
  (await processor.metrics())?.sum(name, labels) ?? 0;

row.for([
  ['D2: commits what is open before it gives partitions up, one by one', 'cooperative-sticky'],
  ['D2: commits what is open before it gives partitions up, all at once', 'range'],
] as const)('%s', async ([, assignor], { rig, exposed }) => {
  // No transaction is due before the test ends: each commit is due to partitions that were given up, or to a stop.
  const run = await startScenario(rig, {
    partitions: PARTITIONS,
    pipeline: { transaction: { commitInterval: '5m', timeout: '10m' } },
    consumer: { assignor },
  });
  const first = await run.startReady('a');
  const feed = run.seeder.feed(workload(), 400);
  const commits = (): Promise<number> => counted(first, 'millrace_transactions_total', { outcome: 'committed' });

  for (let round = 0; round < ROUNDS; round++) {
    const assigned = async (): Promise<boolean> =>
      (await counted(first, 'millrace_assigned_partitions')) === PARTITIONS;
    await first.until('all partitions', assigned);
    await waitFor('records of an open transaction', () => run.hasOpenRecords());
    const before = await commits();
    const joined = await run.startReady(`b${round}`);
    await first.until('a commit before partitions were given up', async () => (await commits()) > before);
    const reads = async (): Promise<boolean> => (await counted(joined, 'millrace_records_consumed_total')) > 0;
    await joined.until('records of its own', reads);
    joined.signal('SIGTERM');
    expect(await joined.untilExit()).toEqual({ code: 0, signal: null });
  }
  await feed.stop();
  first.signal('SIGTERM');
  expect(await first.untilExit()).toEqual({ code: 0, signal: null });

  await run.startReady('rest', { pipeline: { transaction: { commitInterval: '100ms' } } });
  await run.judge();
  exposed({ rebalances: 2 * ROUNDS, transactions: ROUNDS });
});
