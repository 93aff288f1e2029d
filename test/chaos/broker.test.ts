import { judgeAlive } from '../helpers/judge-alive.ts';
import { commits } from '../helpers/kafka-proxy/request.ts';
import { startScenario } from '../helpers/scenario.ts';
import { passed, waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import { rowsWith, through } from './rows.ts';

const row = rowsWith();

/** Longer than every time-out of the clients and of the tests' configuration. */
const DOWN_MS = 70_000;
const RECOVERY_MS = 120_000;

row(
  'B2: goes on exactly once after the broker was killed with a commit in flight and stayed down for 70 s',
  { timeout: 600_000 },
  async ({ rig, broker, proxy, exposed }) => {
    const run = await startScenario(rig, through(proxy));
    await run.startReady('a');
    await run.startReady('b');
    const feed = run.seeder.feed(workload(), 200);
    await run.untilCommitted(400);
    await proxy.hold(commits).caught();
    await broker.kill();
    proxy.mend(); // nobody is left to let the request go to
    await passed(DOWN_MS);
    await broker.start();
    await judgeAlive(run, feed, RECOVERY_MS);
    exposed({ requestsHeld: 1, unknownCommits: 1, rebalances: 2, transactions: 10 });
  },
);

row('B10: takes nothing for written that a full disk kept from being written', async ({ rig, broker, exposed }) => {
  const run = await startScenario(rig);
  await run.startReady('a');
  await run.startReady('b');
  const feed = run.seeder.feed(workload(), 200);
  await run.untilCommitted(400);
  await waitFor('records of an open transaction', () => run.hasOpenRecords(), { everyMs: 5 });
  await broker.fillDisk();
  await broker.untilGone();
  await broker.start();
  await judgeAlive(run, feed, RECOVERY_MS);
  rig.expose({ disksFilled: 1 });
  exposed({ disksFilled: 1, transactions: 10, recycles: 1 });
});
