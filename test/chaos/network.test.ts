import { expect } from 'vitest';

import {
  commits,
  from,
  requestOf,
  toGroupCoordinator,
  toTransactionCoordinator,
} from '../helpers/kafka-proxy/request.ts';
import { judgeAlive } from '../helpers/judge-alive.ts';
import type { Processor } from '../helpers/processor.ts';
import type { Rig } from '../helpers/rig.ts';
import { startScenario, type Scenario, type ScenarioOptions } from '../helpers/scenario.ts';
import type { Feed } from '../helpers/seeder.ts';
import { passed, waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import { rowsWith, through } from './rows.ts';

const row = rowsWith();

/** How long after a fault the group may take to do what has piled up. */
const HEALED_MS = 60_000;

/** Two processes under load. */
async function underLoad(rig: Rig, options: ScenarioOptions): Promise<{ run: Scenario; feed: Feed }> {
  const run = await startScenario(rig, options);
  await run.startReady('a');
  await run.startReady('b');
  const feed = run.seeder.feed(workload(), 300);
  await run.untilCommitted(500);
  return { run, feed };
}

const recyclesOf = (processors: readonly Processor[]): number =>
  processors.reduce((sum, { lastMetrics }) => sum + (lastMetrics?.sum('millrace_producer_recycles_total') ?? 0), 0);

row('C1: all connections are reset every 2 s', async ({ rig, proxy, random, exposed }) => {
  const { run, feed } = await underLoad(rig, through(proxy));
  for (let round = 0; round < 15; round++) {
    proxy.reset();
    await passed(random.integer(1_500, 2_500));
  }
  await judgeAlive(run, feed, HEALED_MS);
  exposed({ connectionsReset: 60, recycles: 10, transactions: 20 });
});

row('C2: for 45 s connections stay open and nothing arrives', async ({ rig, proxy, exposed }) => {
  const { run, feed } = await underLoad(rig, through(proxy));
  await waitFor('records of an open transaction', () => run.hasOpenRecords(), { everyMs: 5 });
  proxy.swallow();
  const healsAt = Date.now() + 45_000;
  for (const processor of run.processors)
    await processor.until('/ready to say no', async () => (await processor.readiness())?.status === 503);
  await waitFor('45 s to pass', () => Date.now() > healsAt, { timeoutMs: 60_000 });
  proxy.mend();
  await judgeAlive(run, feed, HEALED_MS);
  exposed({ connectionsSwallowed: 4, recycles: 2, transactions: 10, abortedTransactions: 1 });
});

const LOSSES = 3;

row('C3: the reply to a commit gets lost', async ({ rig, proxy, random, exposed }) => {
  const { run, feed } = await underLoad(rig, through(proxy));
  for (let losses = 1; losses <= LOSSES; losses++) {
    const before = recyclesOf(run.processors);
    proxy.loseReplies(from(random.pick(['a', 'b']), commits));
    await waitFor('the producer to be replaced', () => recyclesOf(run.processors) > before);
    expect(proxy.counts.repliesLost).toBe(losses);
  }
  await judgeAlive(run, feed, HEALED_MS);
  exposed({ repliesLost: LOSSES, recycles: LOSSES, rebalances: 2, transactions: 10 });
});

row('C3: no reply to commits comes until the product gives up waiting', async ({ rig, proxy, exposed }) => {
  const { run, feed } = await underLoad(rig, through(proxy));
  const [a] = run.processors;
  proxy.loseReplies(from('a', commits), Infinity);
  await waitFor('a commit to be given up', () => recyclesOf(run.processors) > 0);
  proxy.mend();
  await judgeAlive(run, feed, HEALED_MS);
  expect(a?.exit).toBeNull();
  exposed({ repliesLost: 2, unknownCommits: 1, transactions: 10 });
});

row.for(['Produce', 'TxnOffsetCommit', 'AddOffsetsToTxn', 'InitProducerId'] as const)(
  'C4: replies to %s get lost',
  async (api, { rig, proxy, random, exposed }) => {
    const { run, feed } = await underLoad(rig, through(proxy));
    for (let losses = 1; losses <= LOSSES; losses++) {
      const before = recyclesOf(run.processors);
      const instance = random.pick(['a', 'b']);
      proxy.loseReplies(from(instance, requestOf(api)));
      // Only a new producer asks for its id.
      if (api === 'InitProducerId') proxy.loseReplies(from(instance, commits));
      await waitFor('the producer to be replaced', () => recyclesOf(run.processors) > before, { timeoutMs: 60_000 });
      await waitFor('the reply to get lost', () => proxy.counts.repliesLost >= losses);
    }
    await judgeAlive(run, feed, HEALED_MS);
    exposed({ repliesLost: LOSSES, recycles: LOSSES, transactions: 10 });
  },
);

/** Longer than the session, the transaction and every request may take. */
const CUT_MS = 20_000;

row('C5: the transaction coordinator can not be reached', async ({ rig, proxy, exposed }) => {
  const { run, feed } = await underLoad(rig, through(proxy));
  await waitFor('records of an open transaction', () => run.hasOpenRecords(), { everyMs: 5 });
  proxy.cutOff(toTransactionCoordinator);
  await passed(CUT_MS);
  proxy.mend();
  await judgeAlive(run, feed, HEALED_MS);
  exposed({ connectionsSwallowed: 2, recycles: 2, abortedTransactions: 1, transactions: 10 });
});

row('C5: one of two processes can not reach the group coordinator', async ({ rig, proxy, exposed }) => {
  const { run, feed } = await underLoad(rig, through(proxy));
  await waitFor('records of an open transaction', () => run.hasOpenRecords(), { everyMs: 5 });
  proxy.cutOff(from('a', toGroupCoordinator));
  // The other one takes its partitions over.
  await run.untilCaughtUp(CUT_MS);
  await passed(CUT_MS / 2);
  proxy.mend();
  await judgeAlive(run, feed, HEALED_MS);
  exposed({ connectionsSwallowed: 1, rebalances: 4, abortedTransactions: 1, transactions: 10 });
});

row(
  'C6: the network is slow, 500 ± 500 ms there and back, and narrow, 1 MB/s',
  async ({ rig, proxy, random, exposed }) => {
    const { run, feed } = await underLoad(rig, through(proxy));
    const slow = proxy.watch(commits);
    proxy.slow({ latencyMs: [0, 500], bytesPerSecond: 1_000_000, draw: () => random.fraction() });
    await passed(30_000);
    await run.untilCaughtUp(HEALED_MS);
    rig.expose({ commitsWhileSlow: slow.count });
    proxy.mend();
    await judgeAlive(run, feed, HEALED_MS);
    exposed({ commitsWhileSlow: 10, transactions: 20 });
  },
);
