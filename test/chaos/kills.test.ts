import { startScenario } from '../helpers/scenario.ts';
import { workersOf } from '../helpers/workers.ts';
import { workload } from '../helpers/workload.ts';
import { rowsWith } from './rows.ts';

const row = rowsWith();

const ROUNDS = 4;
const VICTIMS = ['worker', 'supervisor', 'broker'] as const;
const RECOVERY_MS = 90_000;

row(
  'A1b: goes on exactly once after SIGKILL of a worker, of the supervisor and of the broker, in an order drawn by the seed',
  { timeout: 600_000 },
  async ({ rig, broker, random, exposed }) => {
    const run = await startScenario(rig, { partitions: 6, pipeline: { workers: 2 } });
    let processor = await run.startReady('a');
    const feed = run.seeder.feed(workload(), 200);
    const kills = { workersKilled: 0, supervisorsKilled: 0, brokersKilled: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const left = [...VICTIMS];
      while (left.length > 0) {
        const [victim] = left.splice(random.integer(0, left.length - 1), 1);
        await processor.until('an open transaction', () => run.hasOpenTransaction('a'), { everyMs: 5 });
        if (victim === 'worker') {
          const worker = random.pick(workersOf(processor));
          process.kill(worker.pid, 'SIGKILL');
          kills.workersKilled++;
        } else if (victim === 'supervisor') {
          await processor.crash();
          kills.supervisorsKilled++;
          processor = await run.start('a');
        } else {
          await broker.kill();
          kills.brokersKilled++;
          await broker.start();
        }
        // The next one does not wait until all is well again, only until work goes on.
        await run.untilCommitted(await committedNow(), RECOVERY_MS);
      }
    }
    await run.untilCaughtUp(RECOVERY_MS);
    await feed.stop();
    await run.judge();
    rig.expose(kills);
    exposed({ workersKilled: ROUNDS, supervisorsKilled: ROUNDS, brokersKilled: ROUNDS, abortedTransactions: 1 });

    /** A hundred records more than are committed now. */
    async function committedNow(): Promise<number> {
      const committed = await rig.cluster.committed(run.group, run.inputPartitions);
      return [...committed.values()].reduce((sum, offset) => sum + offset, 0) + 100;
    }
  },
);
