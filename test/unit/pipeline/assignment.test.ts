import { describe, expect, it } from 'vitest';

import { Assignment } from '../../../src/pipeline/assignment.ts';
import type { CreateLane } from '../../../src/pipeline/lane.ts';
import type { FetchState } from '../../../src/pipeline/ports.ts';
import { TransformLane } from '../../../src/pipeline/transform-lane.ts';
import { laneContext, record } from './bench.ts';
import { ScriptedConsumer } from './scripted-consumer.ts';

const PARTITION = { topic: 't', partition: 0 };

async function assigned(consumer: ScriptedConsumer, startAt: 'earliest' | 'latest' = 'earliest') {
  const createLane: CreateLane = (start, context) => new TransformLane(start, context, () => []);
  const assignment = new Assignment(consumer, createLane, laneContext(), startAt);
  const starts = await assignment.open([PARTITION]);
  const [lane] = assignment.lanes;
  if (!lane) throw new Error('no lane was opened');
  return { assignment, lane, starts };
}

describe('the start of a partition', () => {
  it('is the end of its log where nothing is committed and the configuration says latest', async () => {
    const consumer = new ScriptedConsumer();
    consumer.logs.set('t-0', { logStart: 3, lastStable: 100 });
    const { starts, lane } = await assigned(consumer, 'latest');
    expect(starts).toEqual([{ ...PARTITION, offset: 100 }]);
    expect(lane.pinned).toBe(false);
  });

  it('stays where it was after an abort, though the log has grown and nothing is committed yet', async () => {
    const consumer = new ScriptedConsumer();
    consumer.logs.set('t-0', { logStart: 3, lastStable: 100 });
    const { assignment, lane } = await assigned(consumer, 'latest');
    consumer.logs.set('t-0', { logStart: 3, lastStable: 250 });
    assignment.accept([record(100), record(101)], () => undefined);
    await assignment.rewind();
    expect(consumer.seeks).toEqual([{ ...PARTITION, offset: 100 }]);
    expect(lane).toMatchObject({ committed: 100, pinned: false });
  });

  it('counts as committed when a commit without an answer turns out to have been one', async () => {
    const consumer = new ScriptedConsumer();
    consumer.logs.set('t-0', { logStart: 3, lastStable: 100 });
    const { assignment, lane } = await assigned(consumer, 'latest');
    consumer.offsets.set('t-0', 100);
    await assignment.rewind();
    expect(lane).toMatchObject({ committed: 100, pinned: true });
  });
});

/** What the client reports of partition 0, `at` some time after all records have arrived. */
const report = (state: Partial<FetchState>): FetchState => ({
  logStart: 0,
  lastStable: 10,
  nextFetch: 10,
  at: performance.now() + 1_000,
  ...state,
});

describe('records that nobody reads', () => {
  async function settledAt(committed: number) {
    const consumer = new ScriptedConsumer();
    consumer.offsets.set('t-0', committed);
    return { consumer, ...(await assigned(consumer)) };
  }

  it('are passed behind the last record when the client has fetched past them', async () => {
    const { consumer, assignment, lane } = await settledAt(8);
    const at = performance.now() + 1_000;
    consumer.reports.set('t-0', report({ at }));
    assignment.advance();
    assignment.advance();
    expect(lane.ahead, 'after one report').toBe(-1);
    consumer.reports.set('t-0', report({ at: at + 1_000 }));
    assignment.advance();
    expect(lane.ahead).toBe(10);
  });

  it.each<[string, Partial<FetchState>]>([
    ['the fetch position moves', { nextFetch: 12, lastStable: 12 }],
    ['an open transaction lies before the end', { lastStable: 11 }],
    ['the client stands where the group does', { nextFetch: 8, lastStable: 8 }],
  ])('are not passed while %s', async (_, second) => {
    const { consumer, assignment, lane } = await settledAt(8);
    const at = performance.now() + 1_000;
    const first = second.nextFetch === 8 ? second : { lastStable: second.lastStable === 11 ? 11 : 10 };
    consumer.reports.set('t-0', report({ at, ...first }));
    assignment.advance();
    consumer.reports.set('t-0', report({ at: at + 1_000, ...second }));
    assignment.advance();
    expect(lane.ahead).toBe(-1);
  });

  it('are not passed while a record before them waits to be committed', async () => {
    const { consumer, assignment, lane } = await settledAt(8);
    assignment.accept([record(8)], () => undefined);
    const at = performance.now() + 1_000;
    for (const seconds of [0, 1, 2]) {
      consumer.reports.set('t-0', report({ at: at + seconds * 1_000 }));
      assignment.advance();
    }
    expect(lane.ahead).toBe(-1);
  });
});

describe('a log that begins behind the committed offset', () => {
  async function truncatedWith(state: Partial<FetchState>) {
    const consumer = new ScriptedConsumer();
    consumer.offsets.set('t-0', 8);
    const { assignment } = await assigned(consumer);
    consumer.reports.set('t-0', report(state));
    return assignment.truncated()?.logStart ?? null;
  }

  it('has lost records that were still to be fetched', async () => {
    expect(await truncatedWith({ logStart: 10, nextFetch: 8 })).toBe(10);
  });

  it('has lost none where the client had fetched past its beginning', async () => {
    expect(await truncatedWith({ logStart: 10, nextFetch: 10 })).toBeNull();
  });
});
