import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { combineObservers } from '../../../src/observability/combine-observers.ts';
import { LogWatch } from '../../../src/pipeline/log-watch.ts';
import { ClientError, type FetchState } from '../../../src/pipeline/ports.ts';
import { laneContext, record, transformLane } from './bench.ts';
import { ScriptedConsumer } from './scripted-consumer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A watch over the lanes of two partitions, both of which the group has committed up to 8; the second is fine. */
function watch({ onDataLoss = 'stop' }: { onDataLoss?: 'stop' | 'skip' } = {}) {
  const consumer = new ScriptedConsumer();
  const failures: string[] = [];
  const skipped: string[] = [];
  const errors: string[] = [];
  const observer = combineObservers({
    skipped: ({ topic, partition }, from, to) => skipped.push(`${topic}-${partition} ${from} ${to}`),
    clientError: (_, { message }) => errors.push(message),
  });
  const lanes = [0, 1].map((partition) => transformLane({ ...laneContext(), observer }, { partition, offset: 8 }));
  const [lane] = lanes;
  if (!lane) throw new Error('there is no lane');
  const logs = new LogWatch({
    consumer,
    observer,
    onDataLoss,
    lanes: () => lanes,
    fail: (message) => failures.push(message),
  });
  const log = (logStart: number, lastStable: number) => consumer.logs.set('t-0', { logStart, lastStable });
  const fetched = (state: Partial<FetchState>) =>
    consumer.reports.set('t-0', { logStart: 0, lastStable: 10, nextFetch: 10, hasStopped: false, ...state });
  const looked = async () => {
    logs.look();
    await vi.advanceTimersByTimeAsync(0);
    return logs.isDue;
  };
  /** The client tells that it has stopped, and what is found then is acted upon. */
  const passed = async () => {
    fetched({ logStart: -1, nextFetch: -1, hasStopped: true });
    logs.outOfRange();
    await looked();
    logs.pass();
  };
  return { consumer, errors, failures, fetched, lane, log, logs, looked, passed, skipped };
}

describe('records that were deleted before they were read', () => {
  it('show where the client has not fetched past the beginning of the log', async () => {
    const { fetched, looked } = watch();
    fetched({ logStart: 10, nextFetch: 8 });
    expect(await looked()).toBe(true);
  });

  it('show where the client has stopped reading for a while, whatever it knows of the log', async () => {
    const { fetched, looked } = watch();
    fetched({ logStart: -1, nextFetch: -1, hasStopped: true });
    for (const expected of [false, false, true]) {
      expect(await looked()).toBe(expected);
      vi.advanceTimersByTime(1_000);
    }
  });

  it('show at once where the client says so, too', async () => {
    const { fetched, logs, looked } = watch();
    fetched({ logStart: -1, nextFetch: -1, hasStopped: true });
    logs.outOfRange();
    expect(await looked()).toBe(true);
  });

  it('are none where the client told so before it began', async () => {
    const { fetched, looked } = watch();
    fetched({ logStart: -1, nextFetch: -1, hasStopped: true });
    await looked();
    vi.advanceTimersByTime(1_000);
    fetched({});
    await looked();
    vi.advanceTimersByTime(1_000);
    fetched({ logStart: -1, nextFetch: -1, hasStopped: true });
    expect(await looked()).toBe(false);
  });

  it('are none where it has', async () => {
    const { fetched, looked } = watch();
    fetched({ logStart: 10, nextFetch: 10 });
    expect(await looked()).toBe(false);
  });

  it('stop the pipeline, with both offsets and the ways on', async () => {
    const { consumer, failures, log, passed } = watch();
    log(30, 50);
    await passed();
    expect(failures).toEqual([expect.stringMatching(/^t-0 begins at offset 30 now, .* up to 8: .*onDataLoss.*reset/)]);
    expect(consumer.seeks).toEqual([]);
  });

  it('are left out where the configuration says so, and what was read before them is not', async () => {
    const { consumer, failures, lane, log, logs, passed } = watch({ onDataLoss: 'skip' });
    lane.accept(record(8));
    log(30, 50);
    await passed();
    expect(failures).toEqual([]);
    expect(consumer.seeks).toEqual([
      { topic: 't', partition: 0, offset: 30 },
      { topic: 't', partition: 1, offset: 8 },
    ]);
    expect(lane.lastRead).toBe(8);
    expect([logs.isDue, logs.hasStopped]).toEqual([false, false]);
  });

  it('are counted when that is committed, once, whatever was aborted before', async () => {
    const { lane, log, passed, skipped } = watch({ onDataLoss: 'skip' });
    lane.accept(record(8));
    log(30, 50);
    await passed();
    expect(skipped).toEqual([]);
    lane.rewind(8, true);
    await passed();
    lane.settled(9, 1);
    expect(skipped).toEqual([]);
    lane.settled(31, 1);
    lane.settled(32, 1);
    expect(skipped).toEqual(['t-0 8 30']);
  });

  it('are counted where the committed offset shows that a commit without an answer was one', async () => {
    const { lane, log, passed, skipped } = watch({ onDataLoss: 'skip' });
    log(30, 50);
    await passed();
    lane.rewind(31, true);
    expect(skipped).toEqual(['t-0 8 30']);
  });

  it('are none where the log holds the position after all: reading goes on there', async () => {
    const { consumer, failures, log, passed, skipped } = watch();
    log(0, 50);
    await passed();
    expect([failures, skipped]).toEqual([[], []]);
    expect(consumer.seeks).toContainEqual({ topic: 't', partition: 0, offset: 8 });
  });

  it('are none where the lane went on while its broker was asked: the answer may be older than where it stands', async () => {
    const { consumer, failures, fetched, lane, log, logs, looked } = watch();
    log(0, 8);
    fetched({ logStart: -1, nextFetch: -1, hasStopped: true });
    logs.outOfRange();
    await looked();
    lane.accept(record(20));
    logs.pass();
    expect([failures, consumer.seeks]).toEqual([[], []]);
  });
});

describe('a partition without a leader', () => {
  it('holds up nobody but itself while another one is out of range', async () => {
    const { consumer, failures, log, passed } = watch();
    consumer.unanswered.add('t-1');
    log(30, 50);
    await passed();
    expect(failures).toHaveLength(1);
  });

  it('is asked about again where it can not be told whether it is out of range', async () => {
    const { consumer, errors, failures, log, looked, logs, passed } = watch();
    consumer.refusal = new ClientError('no leader', 'retriable', 5);
    log(30, 50);
    await passed();
    expect([errors, failures, logs.isDue]).toEqual([['no leader'], [], false]);
    consumer.refusal = null;
    expect(await looked()).toBe(true);
  });
});

it.each(['stop', 'skip'] as const)(
  'stops where the log ends before the position, whatever onDataLoss says: %s',
  async (onDataLoss) => {
    const { failures, log, passed } = watch({ onDataLoss });
    log(0, 5);
    await passed();
    expect(failures).toEqual([expect.stringContaining('t-0 ends at offset 5 now, but the group has read up to 8')]);
  },
);
