import { expect } from 'vitest';

import { it } from '../helpers/rig.ts';
import { startScenario } from '../helpers/scenario.ts';
import type { Processor } from '../helpers/processor.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';

it.for(['cooperative-sticky', 'range'])(
  'D2: commits what is open before it gives partitions up (%s)',
  async (assignor, { rig }) => {
    // Only a revocation, or a stop, can end a transaction before the test does: what becomes visible was committed by one.
    const run = await startScenario(rig, {
      partitions: 6,
      pipeline: { transaction: { commitInterval: '5m', timeout: '10m', maxRecords: 1_000_000 } },
      consumer: { assignor },
    });
    const first = await run.startReady('a');
    const feed = run.seeder.feed(workload(), 400);
    const committedBy = async (processor: Processor): Promise<number> =>
      (await processor.metrics())?.sum('millrace_transactions_total', { outcome: 'committed' }) ?? 0;

    const assigned = async (processor: Processor): Promise<number> =>
      (await processor.metrics())?.sum('millrace_assigned_partitions') ?? 0;

    for (let round = 0; round < 4; round++) {
      await first.until('all partitions', async () => (await assigned(first)) === 6);
      await waitFor('records of an open transaction', () => run.hasOpenRecords());
      const before = await committedBy(first);
      const joined = await run.startReady(`b${round}`);
      await first.until('a commit before partitions were given up', async () => (await committedBy(first)) > before);
      await joined.until('records of its own', async () =>
        ((await joined.metrics())?.sum('millrace_records_consumed_total') ?? 0) > 100,
      );
      joined.signal('SIGTERM');
      expect(await joined.untilExit()).toEqual({ code: 0, signal: null });
    }
    await feed.stop();
    // Its end commits the rest.
    const last = await run.startReady('last');
    for (const processor of [first, last]) processor.signal('SIGTERM');
    for (const processor of [first, last]) expect(await processor.untilExit()).toEqual({ code: 0, signal: null });
    await run.judge();
  },
);
