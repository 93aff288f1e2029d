import { describe, expect, it } from 'vitest';
import { BackOff } from '../../../src/supervisor/back-off.ts';

const CONFIG = { attempts: 5, minDelayMs: 200, maxDelayMs: 1_000, resetAfterMs: 60_000 };

describe('the waits before restarts', () => {
  it('double up to the longest, and end after so many in a row', () => {
    const backOff = new BackOff(CONFIG);
    expect(Array.from({ length: 6 }, () => backOff.next(1_000))).toEqual([200, 400, 800, 1_000, 1_000, null]);
  });

  it('begin anew after a process that lived long enough', () => {
    const backOff = new BackOff(CONFIG);
    for (let restart = 0; restart < 5; restart++) backOff.next(59_999);
    expect(backOff.next(60_000)).toBe(200);
    expect(backOff.inARow).toBe(1);
  });
});
