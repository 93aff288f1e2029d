import { fileURLToPath } from 'node:url';

import type { Cluster } from '../../test/helpers/cluster.ts';
import { type Processor, startProcessor } from '../../test/helpers/processor.ts';
import { onceGone } from '../guard.ts';
import { inputPartitions } from './topics.ts';

export const CONFIG = 'config/flights.yaml';
const GROUP = 'flights.route-flights';
const STALL_MS = 60_000;
const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Kill {
  /** Records that were committed before it. */
  readonly committed: number;
  /** Whether the broker still listed its transaction as open when the process was gone. */
  readonly inTransaction: boolean;
}

export interface Watch {
  committed(records: number): void;
  killed(kill: Kill): void;
}

/**
 * Runs `millrace run config/flights.yaml` until that many records are committed. In the middle it is killed with its
 * transaction open, and started again.
 */
export async function processWithKill(
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

  try {
    let inTransaction = false;
    while (!inTransaction) {
      await untilCommitted(Math.ceil(records / 3), () => hasOpenTransaction(cluster));
      await millrace.kill();
      // It may have committed between that look and the kill: such a kill proves less, and another one follows.
      inTransaction = await hasOpenTransaction(cluster);
      watch.killed({ committed, inTransaction });
      millrace = startMillrace(bootstrapServers);
    }
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

async function hasOpenTransaction(cluster: Cluster): Promise<boolean> {
  const transactions = await cluster.transactions();
  return transactions.some(({ transactionalId, state }) => transactionalId.startsWith(GROUP) && state === 'Ongoing');
}
