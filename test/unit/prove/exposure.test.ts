import { describe, expect, it } from 'vitest';
import { killsInTransaction } from '../../../src/prove/exposure.ts';
import type { LogRecord } from '../../../src/prove/log-record.ts';

const START = 1_700_000_000_000;

/** A record of transaction `number` of the process of that name that was started so many seconds after the first. */
const record = (instance: string, startedAfterS: number, number: number): LogRecord => ({
  topic: 'out',
  partition: 0,
  offset: number,
  timestamp: START,
  key: null,
  value: null,
  headers: [
    ['millrace-attempt', Buffer.from(`${instance}/${(START + 1_000 * startedAfterS).toString(36)}.0/${number}/0/1`)],
  ],
});
const kill = (instance: string, afterS: number) => ({ instance, at: START + 1_000 * afterS });

describe('a kill', () => {
  it('met an open transaction where the last that its process wrote to was aborted', () => {
    const visible = [record('a', 0, 1), record('a', 0, 2)];
    expect(killsInTransaction([kill('a', 5)], visible, [record('a', 0, 3)])).toBe(1);
  });

  it('met none where that was committed, whatever was aborted before', () => {
    const visible = [record('a', 0, 1), record('a', 0, 4)];
    expect(killsInTransaction([kill('a', 5)], visible, [record('a', 0, 3)])).toBe(0);
  });

  it('is told from another of the same name by when the process began', () => {
    const visible = [record('a', 6, 1)];
    const aborted = [record('a', 0, 3), record('a', 12, 2)];
    expect(killsInTransaction([kill('a', 5), kill('a', 10), kill('a', 15)], visible, aborted)).toBe(2);
  });

  it('does not count twice what the process before has left, nor what others have aborted', () => {
    const aborted = [record('a', 0, 3), record('b', 0, 9)];
    expect(killsInTransaction([kill('a', 5), kill('a', 6)], [], aborted)).toBe(1);
  });
});
