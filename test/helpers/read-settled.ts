import { partitionId } from '../../src/pipeline/ports.ts';
import type { LogRecord, Partition } from '../../src/prove/log-record.ts';
import { readUpTo } from './reader.ts';
import type { Rig } from './rig.ts';
import { waitFor } from './wait.ts';

/** All committed records of partitions, once none of them stands in an open transaction: its markers come one by one. */
export async function readSettled(
  { cluster, bootstrapServers }: Rig,
  partitions: readonly Partition[],
): Promise<readonly LogRecord[]> {
  const ends = await waitFor('transactions to end', async () => {
    const found = await cluster.ends(partitions);
    return found.every(({ lastStable, highWatermark }) => lastStable === highWatermark) && found;
  });
  return readUpTo(bootstrapServers, partitions, new Map(ends.map((end) => [partitionId(end), end.lastStable])));
}
