import { expect } from 'vitest';

import { copied } from '../helpers/copy.ts';
import { commits, from } from '../helpers/kafka-proxy/request.ts';
import { SESSION_TIMEOUT_MS, TRANSACTION_TIMEOUT_MS } from '../helpers/pipeline-config.ts';
import type { Rig } from '../helpers/rig.ts';
import { startScenario, type Scenario, type ScenarioOptions } from '../helpers/scenario.ts';
import type { Seed } from '../helpers/seeder.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import { rowsWith, through } from './rows.ts';

const row = rowsWith();

const CLEAN_UP_MS = 20_000;

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

row('A3: goes on exactly once after the SIGKILL of all processes at once', async ({ rig, exposed }) => {
  const run = await startScenario(rig, { partitions: 6 });
  const instances = ['a', 'b', 'c'];
  let processors = await Promise.all(instances.map((instance) => run.startReady(instance)));
  const feed = run.seeder.feed(workload(), 300);
  const rounds = 3;
  for (let round = 0; round < rounds; round++) {
    await run.untilCaughtUp();
    await waitFor('records of an open transaction', () => run.hasOpenRecords(), { everyMs: 5 });
    await Promise.all(processors.map((processor) => processor.kill()));
    processors = await Promise.all(instances.map((instance) => run.start(instance)));
    await run.untilCaughtUp(SESSION_TIMEOUT_MS + TRANSACTION_TIMEOUT_MS + CLEAN_UP_MS);
  }
  await feed.stop();
  await run.judge();
  rig.expose({ kills: rounds * instances.length });
  exposed({ kills: 9, abortedTransactions: 1, rebalances: 3 });
});

row(
  'A6: shows nothing of a transaction whose commit arrives after it was stopped and its partitions were taken over',
  async ({ rig, proxy, exposed }) => {
    const run = await startScenario(rig, through(proxy, { consumer: { sessionTimeout: '2s' } }));
    const processor = await run.startReady('a');
    const feed = run.seeder.feed(workload(), 300);
    await run.untilCommitted(300);
    const commit = proxy.hold(from('a', commits));
    await commit.caught();
    processor.stop();
    await run.startReady('b');
    await waitFor('the broker to end the transaction', async () => !(await run.hasOpenTransaction('a')));
    await run.untilCaughtUp();
    await commit.release();
    processor.cont();
    await processor.until(
      'its partitions again',
      async () => ((await processor.metrics())?.sum('millrace_assigned_partitions') ?? 0) > 0,
    );
    await feed.stop();
    await run.judge();
    expect(processor.exit).toBeNull();
    exposed({ requestsHeld: 1, abortedTransactions: 1, rebalances: 3, recycles: 1 });
  },
);

/** Keeps the event loop from everything else for `ms`, at its first try only where `once`. */
const holding = (ms: number, once: boolean): string => `
  import { existsSync, writeFileSync } from 'node:fs';
  export default ({ value }) => {
    if (value.id === 500 && !(${once} && existsSync('./held'))) {
      writeFileSync('./held', '');
      for (const end = Date.now() + ${ms}; Date.now() < end; );
    }
    return [{ to: 'left', value }, { to: 'right', value }];
  };
`;

const numbered = (): (() => Seed) => {
  let id = 0;
  return () => ({ key: Buffer.from(`k${id % 20}`), value: Buffer.from(JSON.stringify({ id: id++ })) });
};

/** Two processes, of which one meets the record that holds it; waits for so many records, far behind that one. */
async function pastHolding(rig: Rig, options: ScenarioOptions, records: number): Promise<Scenario> {
  const run = await startScenario(rig, { ...options, expect: copied });
  await run.startReady('a');
  await run.startReady('b');
  const feed = run.seeder.feed(numbered(), 100);
  await run.untilCommitted(records, 90_000);
  await feed.stop();
  await run.judge();
  return run;
}

row('A8: goes on exactly once after the transform held the event loop for 30 s', async ({ rig, exposed }) => {
  const run = await pastHolding(rig, { transform: holding(30_000, true) }, 3_500);
  for (const processor of run.processors) expect(processor.exit).toBeNull();
  exposed({ abortedTransactions: 1, recycles: 1, rebalances: 2 });
});

row(
  'A8: gets past a record whose transform holds the event loop for longer than the transaction timeout every time',
  async ({ rig, exposed }) => {
    const pipeline = { transaction: { commitInterval: '500ms', timeout: '5s' } };
    await pastHolding(rig, { transform: holding(8_000, false), pipeline }, 3_000);
    exposed({ abortedTransactions: 1, recycles: 1, rebalances: 2 });
  },
);
