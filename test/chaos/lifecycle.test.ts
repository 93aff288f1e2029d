import { expect } from 'vitest';

import { COPY, copied } from '../helpers/copy.ts';
import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { rowsWith } from './rows.ts';

const row = rowsWith();

const INTERVAL_MS = 3_000;
const MEMBERS = 5;
const ROUNDS = 10;
const PROMPT_MS = 5_000;

row(
  'J4: processes a record within 5 s after it was idle for about max.poll.interval.ms, 50 times',
  async ({ rig, random, exposed }) => {
    const run = await startScenario(rig, {
      partitions: MEMBERS,
      transform: COPY,
      expect: copied,
      consumer: { sessionTimeout: '2s', maxPollInterval: `${INTERVAL_MS}ms` },
    });
    const processors = await Promise.all(Array.from({ length: MEMBERS }, (_, n) => run.startReady(`i${n}`)));
    await waitFor('one partition each', async () => {
      const members = await rig.cluster.members(run.group);
      return members.length === MEMBERS && members.every(({ partitions }) => partitions.length === 1);
    });

    const slowest: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const idleUntil = Date.now() + random.integer(0.8 * INTERVAL_MS, 1.4 * INTERVAL_MS);
      await waitFor('an idle while', () => Date.now() > idleUntil);
      const value = Buffer.from(JSON.stringify({ round }));
      await run.seeder.send(Array.from({ length: MEMBERS }, (_, partition) => ({ key: null, value, partition })));
      const sentAt = Date.now();
      await run.untilCaughtUp(PROMPT_MS);
      slowest.push(Date.now() - sentAt);
    }
    await run.judge();
    rig.expose({ idleWhiles: MEMBERS * ROUNDS, slowestMs: Math.max(...slowest) });
    exposed({ idleWhiles: 50, sources: 50, rebalances: MEMBERS });
    for (const processor of processors) {
      expect(processor.exit).toBeNull();
      expect((await processor.metrics())?.sum('millrace_rebalances_total', { event: 'lost' })).toBe(0);
    }
  },
);
