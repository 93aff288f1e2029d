import { fileURLToPath } from 'node:url';

import type { Cluster } from '../../test/helpers/cluster.ts';
import { partitionId } from '../../test/helpers/log-record.ts';
import { type Processor, startProcessor } from '../../test/helpers/processor.ts';
import { onceGone } from '../guard.ts';
import { inputPartitions } from './topics.ts';

export const CONFIG = 'config/flights.yaml';
const GROUP = 'flights.route-flights';
/** COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR */
const COORDINATOR_IS_COMING = new Set([14, 15, 16]);
const STALL_MS = 60_000;
const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Kill {
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
  const committed = committedRecords(cluster);
  let millrace = startMillrace(bootstrapServers);

  const untilCommitted = (goal: number, condition = async () => true) =>
    millrace.processor.until(
      `${goal} of ${records} records to be committed`,
      async () => {
        const now = await committed();
        watch.committed(now);
        return now >= goal && (await condition());
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
      watch.killed({ committed: await committed(), inTransaction });
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

function committedRecords(cluster: Cluster): () => Promise<number> {
  const offsets = new Map<string, number>();
  return async () => {
    try {
      // A partition is left out while its next offset is in a transaction that is about to end: the last answer holds.
      for (const [partition, offset] of await cluster.committed(GROUP, inputPartitions)) offsets.set(partition, offset);
    } catch (error) {
      // The group is new, and its coordinator is not there yet: it has committed nothing.
      if (!COORDINATOR_IS_COMING.has((error as { code?: number }).code ?? 0)) throw error;
    }
    return inputPartitions.reduce((sum, partition) => sum + (offsets.get(partitionId(partition)) ?? 0), 0);
  };
}

async function hasOpenTransaction(cluster: Cluster): Promise<boolean> {
  const transactions = await cluster.transactions();
  return transactions.some(({ transactionalId, state }) => transactionalId.startsWith(GROUP) && state === 'Ongoing');
}
