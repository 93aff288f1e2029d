import { fileURLToPath } from 'node:url';

import type { Cluster } from '../../test/helpers/cluster.ts';
import { type Processor, startProcessor } from '../../test/helpers/processor.ts';
import { waitFor } from '../../test/helpers/wait.ts';
import { workersOf } from '../../test/helpers/workers.ts';
import { DeadWorkers } from './dead-workers.ts';
import type { KeptBroker } from './kept-broker.ts';
import { keepRunning } from './kept-process.ts';
import type { Victim, Witness } from './kills.ts';
import { inputPartitions } from './topics.ts';

export const CONFIG = 'config/flights.yaml';
const GROUP = 'flights.route-flights';
/** Without a single record committed, nor a kill: longer than what is open may hold up those who go on. */
const STALL_MS = 120_000;
const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Watch {
  readonly witness: Witness;
  committed(records: number): void;
}

/**
 * Runs `millrace run config/flights.yaml` until that many records are committed. On the way one of its workers is killed with
 * its transaction open, then the supervisor, and then the broker if it is the demo's own. Whatever somebody else kills
 * meanwhile is started again as well: workers by the supervisor, the others here.
 */
export async function processWithKills(broker: KeptBroker, records: number, watch: Watch): Promise<void> {
  const { witness } = watch;
  const deadWorkers = new DeadWorkers(witness);
  const start = () => {
    const supervisor = startMillrace(broker.bootstrapServers);
    deadWorkers.watch(supervisor);
    return supervisor;
  };
  const millrace = keepRunning(start, 'supervisor', witness);
  let committed = 0;
  let movedAt = performance.now();

  const untilCommitted = (goal: number, condition = async () => true) =>
    waitFor(
      `${goal} of ${records} records to be committed`,
      async () => {
        deadWorkers.look();
        millrace.check();
        const found = await broker.withCluster(committedRecords);
        if (found !== committed) movedAt = performance.now();
        committed = found;
        watch.committed(committed);
        const since = Math.max(movedAt, broker.backAt, millrace.startedAt);
        if (committed < records && performance.now() - since > STALL_MS)
          throw new Error(`nothing was committed for ${STALL_MS / 1_000} s\n${millrace.processor.lastWords()}`);
        return committed >= goal && (committed >= records || (await condition()));
      },
      { timeoutMs: Infinity },
    );

  const killWorker = (worker: number): boolean => {
    const found = workersOf(millrace.processor).find((announced) => announced.worker === worker);
    if (!found || !isKilled(found.pid)) return false;
    deadWorkers.expect(worker);
    return true;
  };
  /** The transaction may end between the look and the kill: such a kill proves less, and another one follows. */
  const killInTransaction = async (victim: Victim, goal: number) => {
    for (let inTransaction = false; !inTransaction;) {
      let open: number[] = [];
      await untilCommitted(goal, async () => (open = await broker.withCluster(workersInTransaction)).length > 0);
      const [worker] = open;
      if (worker === undefined) return; // all is committed: somebody's kills took up the time
      const look = async () => {
        // A broker that is gone can't be asked: of it there is only what it said just before.
        if (victim !== 'broker') open = await broker.withCluster(workersInTransaction);
        inTransaction = victim === 'worker' ? open.includes(worker) : open.length > 0;
        const moment = inTransaction ? 'in an open transaction' : 'between two transactions';
        witness.killed({ victim, by: 'the demo', moment });
      };
      if (victim === 'supervisor') await millrace.crash(look);
      else if (victim === 'worker' ? killWorker(worker) : await broker.kill()) await look();
    }
  };

  try {
    await killInTransaction('worker', Math.ceil(records / 4));
    await killInTransaction('supervisor', Math.ceil(records / 2));
    if (broker.killCommand !== undefined) await killInTransaction('broker', Math.ceil((3 * records) / 4));
    await untilCommitted(records);
    await millrace.stop();
    deadWorkers.look();
  } finally {
    await millrace.kill();
  }
}

function startMillrace(bootstrapServers: string): Processor {
  const env = { KAFKA_BOOTSTRAP_SERVERS: bootstrapServers, MILLRACE_HTTP_PORT: '0' };
  return startProcessor({ args: ['run', CONFIG], cwd: root, env });
}

/** False where there was no such process any more. */
function isKilled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

async function committedRecords(cluster: Cluster): Promise<number> {
  const offsets = await cluster.committed(GROUP, inputPartitions);
  return [...offsets.values()].reduce((sum, offset) => sum + offset, 0);
}

/** Numbers of the workers whose transaction the broker lists as open. */
async function workersInTransaction(cluster: Cluster): Promise<number[]> {
  const transactions = await cluster.transactions();
  return transactions
    .filter(({ transactionalId, state }) => transactionalId.startsWith(`${GROUP}.`) && state === 'Ongoing')
    .map(({ transactionalId }) => Number(transactionalId.slice(transactionalId.lastIndexOf('.') + 1)));
}
