import type { LogEnds, ToolOptions } from '../kafka/admin.ts';
import { LogReader } from '../kafka/log-reader.ts';
import { type InputRecord, partitionId } from '../pipeline/ports.ts';
import { groupBy } from './log-record.ts';

export interface Range {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  /** The first offset that is not part of it. */
  readonly end: number;
}

/** The latest offsets of the partitions, so many in all: the same number of each, or all where it has fewer. */
export function latest(ends: readonly LogEnds[], records: number): Range[] {
  const bySize = [...ends].sort((a, b) => sizeOf(a) - sizeOf(b));
  const ranges: Range[] = [];
  let left = records;
  for (const [index, log] of bySize.entries()) {
    const share = Math.min(sizeOf(log), Math.floor(left / (bySize.length - index)));
    left -= share;
    const { topic, partition, lastStable: end } = log;
    if (share > 0) ranges.push({ topic, partition, from: end - share, end });
  }
  return ranges;
}

const sizeOf = ({ logStart, lastStable }: LogEnds): number => Math.max(0, lastStable - logStart);

/** The committed records of the ranges, those of all partitions mixed evenly, each partition's in its order. */
export async function readSample(
  ranges: readonly Range[],
  tools: ToolOptions & { readonly group: string },
  signal: AbortSignal,
): Promise<InputRecord[]> {
  const from = ranges.map(({ topic, partition, from: offset }) => ({ topic, partition, offset }));
  const ends = ranges.map(({ topic, partition, end: offset }) => ({ topic, partition, offset }));
  return mixed(await LogReader.readUpTo(ends, { ...tools, isolation: 'read_committed', from }, signal));
}

/** Orders records by how far into their partition's they stand. */
export function mixed(records: readonly InputRecord[]): InputRecord[] {
  return [...groupBy(records, partitionId).values()]
    .flatMap((log) => log.map((record, position) => ({ record, at: (position + 0.5) / log.length })))
    .sort((a, b) => a.at - b.at)
    .map(({ record }) => record);
}
