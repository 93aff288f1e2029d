import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { combineObservers } from '../../../src/observability/combine-observers.ts';
import { LogWatch } from '../../../src/pipeline/log-watch.ts';
import type { FetchState } from '../../../src/pipeline/ports.ts';
import { record, transformLane } from './bench.ts';
import { ScriptedConsumer } from './scripted-consumer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A watch over one lane that the group has committed up to 8. */
function watch({ onDataLoss = 'stop' }: { onDataLoss?: 'stop' | 'skip' } = {}) {
  const consumer = new ScriptedConsumer();
  const lane = transformLane(undefined, { offset: 8 });
  const failures: string[] = [];
  const skipped: string[] = [];
  const logs = new LogWatch({
    consumer,
    observer: combineObservers({
      skipped: ({ topic, partition }, from, to) => skipped.push(`${topic}-${partition} ${from} ${to}`),
    }),
    onDataLoss,
    lanes: () => [lane],
    fail: (message) => failures.push(message),
  });
  const log = (logStart: number, lastStable: number) => consumer.logs.set('t-0', { logStart, lastStable });
  const fetched = (state: Partial<FetchState>) =>
    consumer.reports.set('t-0', { logStart: 0, lastStable: 10, nextFetch: 10, hasStopped: false, ...state });
  return { consumer, failures, fetched, lane, log, logs, skipped };
}

describe('records that were deleted before they were read', () => {
  it('show where the client has not fetched past the beginning of the log', () => {
    const { fetched, logs } = watch();
    fetched({ logStart: 10, nextFetch: 8 });
    logs.look();
    expect(logs.isOutOfRange).toBe(true);
  });

  it('show where the client has stopped reading for a while, whatever it knows of the log', () => {
    const { fetched, logs } = watch();
    fetched({ logStart: -1, nextFetch: -1, hasStopped: true });
    for (const expected of [false, false, true]) {
      logs.look();
      expect(logs.isOutOfRange).toBe(expected);
      vi.advanceTimersByTime(1_000);
    }
  });

  it('are none where the client told so before it began', () => {
    const { fetched, logs } = watch();
    fetched({ logStart: -1, nextFetch: -1, hasStopped: true });
    logs.look();
    vi.advanceTimersByTime(1_000);
    fetched({});
    logs.look();
    vi.advanceTimersByTime(1_000);
    fetched({ logStart: -1, nextFetch: -1, hasStopped: true });
    logs.look();
    expect(logs.isOutOfRange).toBe(false);
  });

  it('are none where it has', () => {
    const { fetched, logs } = watch();
    fetched({ logStart: 10, nextFetch: 10 });
    logs.look();
    expect(logs.isOutOfRange).toBe(false);
  });

  it('stop the pipeline, with both offsets and the ways on', async () => {
    const { consumer, failures, log, logs } = watch();
    log(30, 50);
    logs.outOfRange();
    await logs.pass();
    expect(failures).toEqual([expect.stringMatching(/^t-0 begins at offset 30 now, .* up to 8: .*onDataLoss.*reset/)]);
    expect(consumer.seeks).toEqual([]);
  });

  it('are left out where the configuration says so, and what was read before them is not', async () => {
    const { consumer, failures, lane, log, logs, skipped } = watch({ onDataLoss: 'skip' });
    lane.accept(record(8));
    log(30, 50);
    logs.outOfRange();
    await logs.pass();
    expect(failures).toEqual([]);
    expect(skipped).toEqual(['t-0 9 30']);
    expect(consumer.seeks).toEqual([{ topic: 't', partition: 0, offset: 30 }]);
    expect(lane.lastRead).toBe(8);
    expect(logs.isOutOfRange).toBe(false);
  });

  it('are none where the log holds the position after all: reading goes on there', async () => {
    const { consumer, failures, log, logs, skipped } = watch();
    log(0, 50);
    logs.outOfRange();
    await logs.pass();
    expect([failures, skipped]).toEqual([[], []]);
    expect(consumer.seeks).toEqual([{ topic: 't', partition: 0, offset: 8 }]);
  });
});

it.each(['stop', 'skip'] as const)(
  'stops where the log ends before the position, whatever onDataLoss says: %s',
  async (onDataLoss) => {
    const { failures, log, logs } = watch({ onDataLoss });
    log(0, 5);
    logs.outOfRange();
    await logs.pass();
    expect(failures).toEqual([expect.stringContaining('t-0 ends at offset 5 now, but the group has read up to 8')]);
  },
);
