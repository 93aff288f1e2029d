import { describe, expect, it } from 'vitest';
import { MemoryLimit } from '../../../src/supervisor/memory-limit.ts';

const MAX = 100;
const FINE = { kind: 'fine' };
const REPLACE = { kind: 'replace' };

describe('the memory of a worker', () => {
  it('calls for a new process when it passes the limit', () => {
    const limit = new MemoryLimit(MAX);
    expect(limit.judge(MAX, 1_000_000)).toEqual(FINE);
    expect(limit.judge(MAX + 1, 1_000_000)).toEqual(REPLACE);
  });

  it('does not before the process has reached an age, which is said once', () => {
    const limit = new MemoryLimit(MAX);
    expect(limit.judge(MAX + 1, 4_000)).toEqual({ kind: 'too-soon', waitMs: 6_000 });
    expect(limit.judge(MAX + 1, 5_000)).toEqual(FINE);
    expect(limit.judge(MAX + 1, 10_000)).toEqual(REPLACE);
  });

  it('has each process in a row that passes it early live twice as long, up to an hour', () => {
    const limit = new MemoryLimit(MAX);
    const ages: number[] = [];
    for (let process = 0; process < 11; process++) {
      const verdict = limit.judge(MAX + 1, 0);
      if (verdict.kind === 'too-soon') ages.push(verdict.waitMs / 1_000);
      limit.replaced();
    }
    expect(ages).toEqual([10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600]);
  });

  it('forgets the early ones after a process that passed the limit in its own time', () => {
    const limit = new MemoryLimit(MAX);
    limit.judge(MAX + 1, 0);
    limit.replaced();
    expect(limit.judge(MAX + 1, 20_000)).toEqual(REPLACE);
    limit.replaced();
    expect(limit.judge(MAX + 1, 10_000)).toEqual(REPLACE);
  });
});
