import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaAdmin, LogEnds, ToolOptions } from '../kafka/admin.ts';
import { LogReader } from '../kafka/log-reader.ts';
import { type InputRecord, type TopicPartition, partitionId } from '../pipeline/ports.ts';
import type { Crew } from './crew.ts';

const PAUSE_MS = 500;
/** What the broker may take to clean up after a transaction that timed out. */
const CLEAN_UP_MS = 20_000;

/** All records that are in the partitions now. */
export async function readAll(
  partitions: readonly TopicPartition[],
  isolation: 'read_committed' | 'read_uncommitted',
  admin: KafkaAdmin,
  tools: ToolOptions & { readonly group: string },
  signal: AbortSignal,
): Promise<InputRecord[]> {
  const ends = (await admin.ends(partitions)).map((end) => readable(end, isolation));
  const from = ends.map((end) => ({ ...end, offset: 0 }));
  return LogReader.readUpTo(ends, { ...tools, isolation, from }, signal);
}

/** Where a partition ends for such a reader. */
export function readable(
  { topic, partition, lastStable, highWatermark }: LogEnds,
  isolation: 'read_committed' | 'read_uncommitted',
) {
  return { topic, partition, offset: isolation === 'read_committed' ? lastStable : highWatermark };
}

export interface Rest {
  readonly ends: readonly LogEnds[];
  /** As the workers tell it, by partition of the input. */
  readonly lag: ReadonlyMap<string, number>;
}

/**
 * Waits until nothing hangs. After the transaction timeout and the broker's clean-up it gives up and returns what it then
 * finds: for the checker to complain about.
 */
export async function untilAtRest(
  {
    admin,
    crew,
    written,
    inputs,
  }: { admin: KafkaAdmin; crew: Crew; written: readonly TopicPartition[]; inputs: readonly TopicPartition[] },
  transactionTimeoutMs: number,
  signal: AbortSignal,
): Promise<Rest> {
  const deadline = performance.now() + transactionTimeoutMs + CLEAN_UP_MS;
  for (;;) {
    const rest = { ends: await admin.ends(written), lag: await lagOf(crew, inputs) };
    const isAtRest =
      rest.ends.every(({ lastStable, highWatermark }) => lastStable === highWatermark) &&
      [...rest.lag.values()].every((records) => records === 0);
    if (isAtRest || performance.now() > deadline) return rest;
    await delay(PAUSE_MS, undefined, { signal });
  }
}

/** The highest, should two workers report the same partition, and NaN for one that none of them reports. */
async function lagOf(crew: Crew, inputs: readonly TopicPartition[]): Promise<ReadonlyMap<string, number>> {
  const reported = new Map<string, number>();
  for (const worker of crew.present) {
    for (const [partition, lag] of (await worker.lag()) ?? [])
      reported.set(partition, Math.max(lag, reported.get(partition) ?? 0));
  }
  return new Map(inputs.map(partitionId).map((partition) => [partition, reported.get(partition) ?? NaN]));
}
