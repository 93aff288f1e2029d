import { fileURLToPath } from 'node:url';

import type { Cluster } from '../../test/helpers/cluster.ts';
import { type Processor, startProcessor } from '../../test/helpers/processor.ts';
import { workersOf } from '../../test/helpers/workers.ts';
import { onceGone } from '../guard.ts';
import { inputPartitions } from './topics.ts';

export const CONFIG = 'config/flights.yaml';
const GROUP = 'flights.route-flights';
const STALL_MS = 60_000;
const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Kill {
  readonly victim: 'worker' | 'supervisor';
  /** Records that were committed before it. */
  readonly committed: number;
  /** Whether the broker still listed the victim's transaction, or one of its workers', as open when it was gone. */
  readonly inTransaction: boolean;
}

export interface Watch {
  committed(records: number): void;
  killed(kill: Kill): void;
}

/**
 * Runs `millrace run config/flights.yaml` until that many records are committed. On the way one of its workers is killed with
 * its transaction open, which the supervisor starts again, and then the supervisor, which is started again here.
 */
export async function processWithKills(
  cluster: Cluster,
  bootstrapServers: string,
  records: number,
  watch: Watch,
): Promise<void> {
  let committed = 0;
  let millrace = startMillrace(bootstrapServers);

  const untilCommitted = (goal: number, condition = async () => true) =>
    millrace.processor.until(
      `${goal} of ${records} records to be committed`,
      async () => {
        committed = await committedRecords(cluster);
        watch.committed(committed);
        return committed >= goal && (await condition());
      },
      { timeoutMs: STALL_MS },
    );
  /** It may have committed between the look and the kill: such a kill proves less, and another one follows. */
  const killInTransaction = async (victim: Kill['victim'], goal: number) => {
    for (let inTransaction = false; !inTransaction;) {
      let worker = -1;
      await untilCommitted(goal, async () => (worker = (await workersInTransaction(cluster)).at(0) ?? -1) >= 0);
      if (victim === 'worker') process.kill(workersOf(millrace.processor)[worker]!.pid, 'SIGKILL');
      else await millrace.processor.crash();
      const open = await workersInTransaction(cluster);
      inTransaction = victim === 'worker' ? open.includes(worker) : open.length > 0;
      watch.killed({ victim, committed, inTransaction });
      if (victim === 'supervisor') millrace = startMillrace(bootstrapServers);
    }
  };

  try {
    await killInTransaction('worker', Math.ceil(records / 4));
    await killInTransaction('supervisor', Math.ceil(records / 2));
    await untilCommitted(records);
    await stop(millrace.processor);
  } finally {
    await millrace.kill();
  }
}

function startMillrace(bootstrapServers: string) {
  const env = { KAFKA_BOOTSTRAP_SERVERS: bootstrapServers, MILLRACE_HTTP_PORT: '0' };
  const processor = startProcessor({ args: ['run', CONFIG], cwd: root, env });
  const guard = onceGone(`kill -9 ${processor.pid}`);
  return {
    processor,
    async kill() {
      await processor.kill();
      await guard.release();
    },
  };
}

async function stop(processor: Processor): Promise<void> {
  processor.signal('SIGTERM');
  const { code } = await processor.untilExit();
  if (code !== 0) throw new Error(`SIGTERM did not end it well\n${processor.lastWords()}`);
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
