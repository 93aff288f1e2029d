import { expect } from 'vitest';

import type { OwnBroker } from '../../dev/broker.ts';
import type { BrokerCluster } from '../helpers/broker-cluster.ts';
import { judgeAlive } from '../helpers/judge-alive.ts';
import type { Rig } from '../helpers/rig.ts';
import { startScenario, type Scenario } from '../helpers/scenario.ts';
import type { Feed } from '../helpers/seeder.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import { rowsOnCluster } from './rows-on-cluster.ts';

const row = rowsOnCluster();

const RECOVERY_MS = 60_000;
const FROZEN_MS = 20_000;
const STARVED_MS = 60_000;

/** What a broker is hurt as: the leader of one of these partitions. */
const PARTITIONS = {
  'transaction coordinator': () => ['__transaction_state', 0],
  'group coordinator': () => ['__consumer_offsets', 0],
  'leader of an output': ({ outputs }: Scenario) => [outputs.left, 0],
} as const satisfies Record<string, (run: Scenario) => readonly [topic: string, partition: number]>;
type Role = keyof typeof PARTITIONS;

async function leaderAs(role: Role, run: Scenario, brokers: BrokerCluster): Promise<OwnBroker> {
  const [topic, partition] = PARTITIONS[role](run);
  return brokers.leader(topic, partition);
}

/** Two processes that have records of an open transaction in the outputs. */
async function startLoad(rig: Rig): Promise<{ run: Scenario; feed: Feed }> {
  const run = await startScenario(rig);
  await run.startReady('a');
  await run.startReady('b');
  const feed = run.seeder.feed(workload(), 200);
  await run.untilCommitted(400);
  await waitFor('records of an open transaction', () => run.hasOpenRecords(), { everyMs: 5 });
  return { run, feed };
}

async function judgeAllAlive(run: Scenario, feed: Feed, brokers: BrokerCluster): Promise<void> {
  await brokers.untilInSync();
  await judgeAlive(run, feed, RECOVERY_MS);
}

row.for([
  ['B4: goes on exactly once after the SIGKILL of the transaction coordinator', 'transaction coordinator'],
  ['B5: goes on exactly once after the SIGKILL of the group coordinator', 'group coordinator'],
  ['B6: goes on exactly once after the SIGKILL of the leader of an output partition', 'leader of an output'],
] as const)('%s', async ([, role], { rig, brokers, exposed }) => {
  const { run, feed } = await startLoad(rig);
  const victim = await leaderAs(role, run, brokers);
  await victim.kill();
  await waitFor('another leader', async () => (await leaderAs(role, run, brokers)) !== victim);
  await run.untilCaughtUp(RECOVERY_MS);
  await victim.start();
  await judgeAllAlive(run, feed, brokers);
  rig.expose({ brokersKilled: 1 });
  exposed({ brokersKilled: 1, transactions: 20, rebalances: 2 });
});

row.for([
  ['B7: goes on exactly once after the transaction coordinator stood still for 20 s', 'transaction coordinator'],
  ['B7: goes on exactly once after the group coordinator stood still for 20 s', 'group coordinator'],
  ['B7: goes on exactly once after the leader of an output partition stood still for 20 s', 'leader of an output'],
] as const)('%s', async ([, role], { rig, brokers, exposed }) => {
  const { run, feed } = await startLoad(rig);
  const victim = await leaderAs(role, run, brokers);
  const thawAt = Date.now() + FROZEN_MS;
  await victim.freeze();
  await waitFor('20 s to pass', () => Date.now() > thawAt);
  await victim.thaw();
  await judgeAllAlive(run, feed, brokers);
  rig.expose({ brokersFrozen: 1 });
  // What it was asked just before gets no answer.
  exposed({ brokersFrozen: 1, transactions: 20, rebalances: 2, recycles: 1 });
});

row(
  'B3: goes on exactly once while the brokers are restarted one after the other, in order and then by SIGKILL',
  async ({ rig, brokers, exposed }) => {
    const { run, feed } = await startLoad(rig);
    let restarts = 0;
    for (const end of ['stop', 'kill'] as const) {
      for (const broker of brokers.brokers) {
        await broker[end]();
        await broker.start();
        restarts++;
        await brokers.untilInSync();
      }
    }
    await judgeAllAlive(run, feed, brokers);
    rig.expose({ restarts });
    exposed({ restarts: 6, transactions: 50, rebalances: 2, recycles: 1 });
  },
);

row(
  'B8: makes no progress and loses nothing while fewer replicas are there than min.insync.replicas asks for',
  { timeout: 300_000 },
  async ({ rig, brokers, exposed }) => {
    const { run, feed } = await startLoad(rig);
    const lost = brokers.brokers.slice(1);
    await Promise.all(lost.map((broker) => broker.kill()));
    const backAt = Date.now() + STARVED_MS;
    await waitFor('every process to say that it is not ready', async () => !(await isAnyReady(run)), {
      timeoutMs: STARVED_MS,
    });
    const committed = await committedRecords(run);
    await waitFor('a minute to pass', () => Date.now() > backAt, { timeoutMs: STARVED_MS });
    expect(await committedRecords(run), 'records committed by too few brokers').toBe(committed);
    await Promise.all(lost.map((broker) => broker.start()));
    await judgeAllAlive(run, feed, brokers);
    rig.expose({ brokersKilled: lost.length });
    exposed({ brokersKilled: 2, transactions: 10, rebalances: 2, recycles: 1 });
  },
);

async function isAnyReady({ processors }: Scenario): Promise<boolean> {
  const answers = await Promise.all(processors.map((processor) => processor.readiness()));
  return answers.some((answer) => answer?.status === 200);
}

async function committedRecords({ processors }: Scenario): Promise<number> {
  const pages = await Promise.all(processors.map((processor) => processor.metrics()));
  return pages.reduce((sum, page) => sum + (page?.sum('millrace_records_committed_total') ?? 0), 0);
}
