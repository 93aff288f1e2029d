import { describe, expect, it } from 'vitest';
import type { InputRecord } from '../../../src/pipeline/ports.ts';
import { rateOf } from '../../../src/prove/feed.ts';
import { latest, mixed } from '../../../src/prove/sample.ts';

const log = (partition: number, logStart: number, lastStable: number) => ({
  topic: 'flights',
  partition,
  logStart,
  lastStable,
  highWatermark: lastStable + 5,
});

describe('the latest records', () => {
  const ranges = (records: number, ...logs: ReturnType<typeof log>[]) =>
    latest(logs, records)
      .sort((a, b) => a.partition - b.partition)
      .map(({ partition, from, end }) => [partition, from, end]);

  it('are the same number of each partition, up to what read_committed can read', () => {
    expect(ranges(20, log(0, 0, 100), log(1, 50, 1_000))).toEqual([
      [0, 90, 100],
      [1, 990, 1_000],
    ]);
  });

  it('are more of the others where a partition has fewer', () => {
    expect(ranges(20, log(0, 98, 100), log(1, 0, 1_000), log(2, 7, 7))).toEqual([
      [0, 98, 100],
      [1, 982, 1_000],
    ]);
  });

  it('are all there are where there are not so many, and none of an empty topic', () => {
    expect(ranges(20, log(0, 3, 5))).toEqual([[0, 3, 5]]);
    expect(ranges(20, log(0, 5, 5), log(1, 0, 0))).toEqual([]);
  });
});

describe('the order in which records are fed', () => {
  it('mixes partitions evenly and keeps each one in its order', () => {
    const records = (partition: number, count: number) =>
      Array.from({ length: count }, (_, offset) => ({ topic: 'flights', partition, offset }) as InputRecord);
    const order = mixed([...records(0, 4), ...records(1, 2)]).map(({ partition, offset }) => `${partition}/${offset}`);
    expect(order).toEqual(['0/0', '1/0', '0/1', '0/2', '1/1', '0/3']);
  });
});

describe('the rate at which records are fed', () => {
  it('feeds all of the sample within the time', () => {
    expect(rateOf(20_000, 20_000)).toBe(1_000);
  });

  it('is enough to keep the workers busy, and not so much that a long proof fills the memory', () => {
    expect(rateOf(10, 60_000)).toBe(200);
    expect(rateOf(10, 3_600_000)).toBeCloseTo(100_000 / 3_600);
    expect(rateOf(1_000_000, 3_600_000)).toBeCloseTo(1_000_000 / 3_600);
  });
});
