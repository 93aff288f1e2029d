import { expect } from 'vitest';

import { abortedRecords } from '../../src/prove/checker/transactions.ts';
import { transactionOf } from '../../src/prove/checker/trace.ts';
import type { Processor } from '../helpers/processor.ts';
import { it } from '../helpers/rig.ts';
import { SESSION_TIMEOUT_MS, TRANSACTION_TIMEOUT_MS } from '../helpers/pipeline-config.ts';
import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';

const CLEAN_UP_MS = 5_000;
const GRACE_MS = 10_000;

it('A1: goes on exactly once after SIGKILL with an open transaction, three rounds', async ({ rig }) => {
  // Longer than anything waits for here: what a killed process left open must be ended by its successor.
  const run = await startScenario(rig, {
    partitions: 6,
    pipeline: { transaction: { commitInterval: '500ms', timeout: '2m' } },
  });
  const processors = new Map<string, Processor>();
  for (const instance of ['a', 'b', 'c']) processors.set(instance, await run.start(instance));
  const feed = run.seeder.feed(workload(), 400);
  await run.untilCommitted(500);

  for (let round = 0, hits = 0; hits < 3; round++) {
    const instance = ['a', 'b', 'c'][round % 3] ?? 'a';
    if (await run.killInTransaction(instance, processors.get(instance)!)) hits++;
    processors.set(instance, await run.start(instance));
    await run.untilCaughtUp(SESSION_TIMEOUT_MS + 2 * CLEAN_UP_MS);
    expect(round, 'kills that missed the transaction').toBeLessThan(10);
  }
  await feed.stop();

  const { exposure } = await run.judge();
  expect(exposure.killsInTransaction).toBe(3);
  expect(exposure.abortedRecords).toBeGreaterThan(0);
  expect(exposure.rebalances).toBeGreaterThan(3);
});

it('A2: leaves nothing open and exits 0 on SIGTERM under load, ten times', async ({ rig }) => {
  const run = await startScenario(rig, { config: { shutdown: { grace: `${GRACE_MS}ms` } } });
  await run.startReady('steady');
  const feed = run.seeder.feed(workload(), 400);
  const stopInTransaction = async (instance: string): Promise<void> => {
    const stopped = await run.start(instance);
    await stopped.until('an open transaction', () => run.hasOpenTransaction(instance), { everyMs: 5 });
    stopped.signal('SIGTERM');
    expect(await stopped.untilExit({ timeoutMs: GRACE_MS })).toEqual({ code: 0, signal: null });
    expect(await run.hasUndecidedTransaction(instance), 'a transaction left to time out').toBe(false);
  };
  for (let round = 0; round < 5; round++) await Promise.all(['a', 'b'].map(stopInTransaction));
  await feed.stop();

  const { exposure } = await run.judge();
  // The one that stays takes part in one at least whenever two come; how many come and go in one is the group's business.
  expect(exposure.rebalances).toBeGreaterThanOrEqual(5);
});

it('A4: shows nothing of a zombie that was stopped for twice the session timeout', async ({ rig }) => {
  const run = await startScenario(rig);
  const zombie = await run.startReady('zombie');
  const feed = run.seeder.feed(workload(), 300);
  await run.stopInTransaction('zombie', zombie);
  const stoppedAt = Date.now();
  await run.startReady('a');
  await run.startReady('b');
  await run.untilCaughtUp(SESSION_TIMEOUT_MS + TRANSACTION_TIMEOUT_MS + CLEAN_UP_MS);
  await waitFor('twice the session timeout', () => Date.now() > stoppedAt + 2 * SESSION_TIMEOUT_MS);
  zombie.cont();
  await zombie.untilReady();
  await zombie.until('the abort to be counted', async () => {
    const metrics = await zombie.metrics();
    return (metrics?.sum('millrace_transactions_total', { outcome: 'aborted' }) ?? 0) > 0;
  });
  await feed.stop();

  const { evidence, exposure } = await run.judge();
  const aborted = abortedRecords(evidence.visible, evidence.uncommitted).map(transactionOf);
  expect(aborted.some((transaction) => transaction?.startsWith('zombie.0/'))).toBe(true);
  expect(exposure.rebalances).toBeGreaterThan(2);
});
