import { expect } from 'vitest';

import { errorOf, GROUP_REFUSALS, withError } from '../helpers/kafka-proxy/reply.ts';
import { aborts, commits, requestOf } from '../helpers/kafka-proxy/request.ts';
import type { Held, KafkaProxy } from '../helpers/kafka-proxy.ts';
import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import { rowsWith, through } from './rows.ts';

const row = rowsWith();

const ROUNDS = 3;
const addsOffsets = requestOf('AddOffsetsToTxn');
const REFUSALS = Object.values(GROUP_REFUSALS);
const sendsOffsets = requestOf('TxnOffsetCommit');

/** Waits until the client has given up waiting for the held request and sent it once more. */
async function untilRepeated(proxy: KafkaProxy, held: Held): Promise<void> {
  const { apiKey } = await held.caught();
  const repeat = proxy.watch((request) => request.apiKey === apiKey);
  await waitFor('the held request to be sent again', () => repeat.count > 0, { everyMs: 5 });
}

/** Lets a held request go; returns 1 where the broker refused it. */
async function releaseLate(held: Held): Promise<number> {
  return errorOf(await held.release(), await held.caught()) === 0 ? 0 : 1;
}

row('T1: a commit that arrives within the next transaction does not commit that', async ({ rig, proxy, exposed }) => {
  const run = await startScenario(rig, through(proxy));
  const feed = run.seeder.feed(workload(), 300);
  let processor = await run.startReady('a');
  let lateRequestsRefused = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const commit = proxy.hold(commits);
    await untilRepeated(proxy, commit);
    // The next transaction stands before its offsets: if it were committed now, its records would be without them.
    const next = proxy.hold(addsOffsets);
    await next.caught();
    expect(await run.hasOpenRecords()).toBe(true);
    lateRequestsRefused += await releaseLate(commit);
    await processor.kill();
    processor = await run.startReady('a');
    await run.untilCaughtUp();
  }
  await feed.stop();

  await run.judge();
  rig.expose({ lateRequestsRefused });
  exposed({ requestsHeld: 2 * ROUNDS, lateRequestsRefused: ROUNDS, abortedTransactions: ROUNDS });
});

row(
  'T2: an abort that arrives within the next transaction does not abort that',
  async ({ rig, proxy, random, exposed }) => {
    const run = await startScenario(rig, through(proxy));
    const feed = run.seeder.feed(workload(), 300);
    await run.startReady('a');
    await run.untilCommitted(300);
    let lateRequestsRefused = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const abort = proxy.hold(aborts);
      proxy.changeReplies(sendsOffsets, (reply, request) => withError(reply, request, random.pick(REFUSALS)), 1);
      await untilRepeated(proxy, abort);
      // The next transaction has its records and goes on to its offsets: if it were aborted now, they would come without them.
      const next = proxy.hold(addsOffsets);
      await next.caught();
      expect(await run.hasOpenRecords()).toBe(true);
      lateRequestsRefused += await releaseLate(abort);
      await next.release();
      await run.untilCaughtUp();
    }
    await feed.stop();

    await run.judge();
    rig.expose({ lateRequestsRefused });
    exposed({ requestsHeld: 2 * ROUNDS, lateRequestsRefused: ROUNDS, abortedTransactions: ROUNDS });
  },
);

row('T2b: offsets that arrive within the next transaction do not replace its own', async ({ rig, proxy, exposed }) => {
  const run = await startScenario(rig, through(proxy));
  const feed = run.seeder.feed(workload(), 300);
  let processor = await run.startReady('a');
  let lateRequestsRefused = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await run.untilCaughtUp();
    const offsets = proxy.hold(sendsOffsets);
    await untilRepeated(proxy, offsets);
    const committed = proxy.watch(commits);
    await waitFor('the transaction to be committed', () => committed.count > 0, { everyMs: 5 });
    // The next one has sent its own offsets and goes on to its commit.
    const next = proxy.hold(commits);
    await next.caught();
    lateRequestsRefused += await releaseLate(offsets);
    const third = proxy.hold(addsOffsets);
    await next.release();
    await third.caught();
    await processor.kill();
    processor = await run.startReady('a');
  }
  await feed.stop();

  await run.judge();
  rig.expose({ lateRequestsRefused });
  exposed({ requestsHeld: 3 * ROUNDS, lateRequestsRefused: ROUNDS, abortedTransactions: 1 });
});

row(
  'T8: one third of the transactions is aborted after their offsets were sent',
  async ({ rig, proxy, random, exposed }) => {
    const run = await startScenario(rig, through(proxy));
    await run.startReady('a');
    await run.startReady('b');
    const feed = run.seeder.feed(workload(), 300);
    await run.untilCommitted(300);
    proxy.changeReplies(sendsOffsets, (reply, request) =>
      random.fraction() < 1 / 3 ? withError(reply, request, random.pick(REFUSALS)) : reply,
    );
    await waitFor('30 aborts', () => proxy.counts.repliesChanged >= 30, { timeoutMs: 90_000 });
    proxy.mend();
    await feed.stop();

    await run.judge();
    exposed({ repliesChanged: 30, abortedTransactions: 25, transactions: 40 });
  },
);
