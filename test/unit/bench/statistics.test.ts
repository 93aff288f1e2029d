import { describe, expect, it } from 'vitest';
import { median, percentile } from '../../../bench/statistics.ts';

describe('the statistics of the benchmark', () => {
  it('takes the middle value for the median, or the mean of the two in the middle', () => {
    expect(median([9, 100, 1])).toBe(9);
    expect(median([1, 100, 9, 11])).toBe(10);
    expect(median([7])).toBe(7);
    expect(median([])).toBeNaN();
  });

  it('takes for a percentile the value that that share does not exceed', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 1)).toBe(100);
    expect(percentile([3, 1], 0.99)).toBe(3);
    expect(percentile([], 0.5)).toBeNaN();
  });
});
