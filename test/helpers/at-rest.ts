import type { Evidence } from '../../src/prove/checker/evidence.ts';
import { partitionId } from '../../src/pipeline/ports.ts';
import type { Partition } from '../../src/prove/log-record.ts';
import type { Processor } from './processor.ts';
import { waitFor } from './wait.ts';

/** What the broker may take to clean up after a transaction that timed out. */
const CLEAN_UP_MS = 20_000;

type Rest = Pick<Evidence, 'ends' | 'openTransactions' | 'lag'>;

/**
 * Waits until nothing hangs. After the transaction timeout and the broker's clean-up it gives up and returns what it
 * then finds: for the checker to complain about.
 */
export async function untilAtRest(
  ask: { readonly [K in keyof Rest]: () => Promise<Rest[K]> },
  transactionTimeoutMs: number,
): Promise<Rest> {
  const patienceMs = transactionTimeoutMs + CLEAN_UP_MS;
  const deadline = Date.now() + patienceMs;
  const probe = async (): Promise<Rest | undefined> => {
    const rest = { ends: await ask.ends(), openTransactions: await ask.openTransactions(), lag: await ask.lag() };
    const isAtRest =
      rest.ends.every(({ lastStable, highWatermark }) => lastStable === highWatermark) &&
      rest.openTransactions.length === 0 &&
      [...rest.lag.values()].every((records) => records === 0);
    return isAtRest || Date.now() > deadline ? rest : undefined;
  };
  return waitFor('rest', probe, { timeoutMs: 2 * patienceMs, everyMs: 200 });
}

/**
 * What the lag gauges say about the partitions: the highest, should two processes report the same one, and NaN for one
 * that none of them reports. Nothing where no process runs.
 */
export async function lagOf(
  processors: readonly Processor[],
  partitions: readonly Partition[],
): Promise<ReadonlyMap<string, number>> {
  const running = processors.filter(({ exit }) => exit === null);
  if (running.length === 0) return new Map();
  const lag = new Map<string, number>();
  for (const processor of running) {
    const metrics = await processor.metrics();
    for (const { labels, value } of metrics?.series('millrace_lag_records') ?? []) {
      const partition = `${labels['topic'] ?? ''}/${labels['partition'] ?? ''}`;
      lag.set(partition, Math.max(value, lag.get(partition) ?? 0));
    }
  }
  return new Map(partitions.map(partitionId).map((partition) => [partition, lag.get(partition) ?? NaN]));
}
