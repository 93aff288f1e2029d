import { commits, from, requestOf, type RequestFilter } from '../helpers/kafka-proxy/request.ts';
import type { KafkaProxy } from '../helpers/kafka-proxy.ts';
import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import { rowsWith, through } from './rows.ts';

const row = rowsWith();

const KILLS = 20;
const INSTANCE = 'a';
/** For the group to notice; the shortest that the tests' broker takes. */
const SESSION_TIMEOUT = '1s';

type Catch = (proxy: KafkaProxy) => Promise<void>;

/** The process has said so, and the broker does not hear it. */
const atRequest =
  (filter: RequestFilter): Catch =>
  async (proxy) => {
    await proxy.hold(from(INSTANCE, filter)).caught();
  };

/** The broker has done it, and the process does not hear of it. */
const atReply =
  (filter: RequestFilter): Catch =>
  async (proxy) => {
    const before = proxy.counts.repliesLost;
    proxy.loseReplies(from(INSTANCE, filter));
    await waitFor('a reply to get lost', () => proxy.counts.repliesLost > before, { everyMs: 2 });
  };

row.for([
  ['A7: SIGKILL after begin, before the broker knows of the transaction', atRequest(requestOf('AddPartitionsToTxn'))],
  ['A7: SIGKILL after records were sent', atRequest(requestOf('AddOffsetsToTxn'))],
  ['A7: SIGKILL after offsets were sent', atReply(requestOf('TxnOffsetCommit'))],
  ['A7: SIGKILL before the commit', atRequest(commits)],
  ['A7: SIGKILL after the commit', atReply(commits)],
] as const)('%s', { timeout: 600_000 }, async ([, caught], { rig, proxy, exposed }) => {
  const run = await startScenario(
    rig,
    through(proxy, {
      consumer: { sessionTimeout: SESSION_TIMEOUT, properties: { 'heartbeat.interval.ms': 300 } },
      pipeline: { transaction: { commitInterval: '100ms', timeout: '60s' } },
    }),
  );
  const feed = run.seeder.feed(workload(), 200);
  let kills = 0;
  for (; kills < KILLS; kills++) {
    const processor = await run.start(INSTANCE);
    await processor.until('the point of the kill', () => caught(proxy).then(() => true));
    await processor.kill();
    // What is still held must not be let go with what comes next.
    proxy.mend();
  }
  await run.startReady(INSTANCE);
  await feed.stop();
  await run.judge();
  rig.expose({ kills });
  exposed({ kills: KILLS, rebalances: 1, transactions: 1 });
});
