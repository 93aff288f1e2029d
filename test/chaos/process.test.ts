import { expect } from 'vitest';

import { startScenario } from '../helpers/scenario.ts';
import { workload } from '../helpers/workload.ts';
import { rowsWith } from './rows.ts';

const row = rowsWith();

row(
  'A5: replaces its producer when it stood still past the transaction timeout but within that of the session',
  async ({ rig, exposed }) => {
    const run = await startScenario(rig, {
      pipeline: { transaction: { commitInterval: '500ms', timeout: '5s' } },
      consumer: { sessionTimeout: '60s' },
    });
    const processor = await run.startReady('a');
    const feed = run.seeder.feed(workload(), 300);
    const timedOut = async (): Promise<number> =>
      (await processor.metrics())?.sum('millrace_producer_recycles_total', { reason: 'timed-out' }) ?? 0;

    const rounds = 3;
    for (let round = 1; round <= rounds; round++) {
      await run.stopInTransaction('a', processor);
      await processor.until('the broker to end the transaction', async () => !(await run.hasOpenTransaction('a')));
      processor.cont();
      await processor.until('the producer to be replaced', async () => (await timedOut()) === round);
      await run.untilCaughtUp();
    }
    await feed.stop();

    await run.judge();
    exposed({ abortedTransactions: rounds, recycles: rounds, rebalances: 1 });
    const metrics = await processor.metrics();
    expect(metrics?.sum('millrace_rebalances_total', { event: 'lost' }), 'times it lost its partitions').toBe(0);
    expect(metrics?.sum('millrace_producer_recycles_total'), 'producers').toBe(rounds);
  },
);
