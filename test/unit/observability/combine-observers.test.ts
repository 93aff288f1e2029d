import { describe, expect, it } from 'vitest';
import { combineObservers } from '../../../src/observability/combine-observers.ts';

describe('combined observers', () => {
  it('pass a fact to each part that takes it, in order, and to no other', () => {
    const seen: string[] = [];
    const observer = combineObservers(
      { consumed: (topic, records) => seen.push(`first ${topic} ${records}`) },
      { transformed: (durationMs) => seen.push(`second ${durationMs}`) },
      { consumed: (topic, records) => seen.push(`third ${topic} ${records}`) },
    );
    observer.consumed('flights', 3);
    observer.transformed(7);
    observer.aborted('lost', null);
    expect(seen).toEqual(['first flights 3', 'third flights 3', 'second 7']);
  });

  it('keep a part that is a class instance whole', () => {
    class Count {
      records = 0;
      consumed(_topic: string, records: number): void {
        this.records += records;
      }
    }
    const alone = new Count();
    const beside = new Count();
    combineObservers(alone).consumed('flights', 2);
    combineObservers(beside, new Count()).consumed('flights', 3);
    expect([alone.records, beside.records]).toEqual([2, 3]);
  });
});
