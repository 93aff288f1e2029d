import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Assignment } from '../../../src/pipeline/assignment.ts';
import type { CreateLane } from '../../../src/pipeline/lane.ts';
import { lagOf } from '../../../src/pipeline/status.ts';
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

  it('is the beginning of its log where it was added after the group had begun: "latest" speaks of then', async () => {
    const consumer = new ScriptedConsumer();
    consumer.logs.set('t-0', { logStart: 3, lastStable: 100 });
    consumer.added.add('t-0');
    const { starts } = await assigned(consumer, 'latest');
    expect(starts).toEqual([{ ...PARTITION, offset: 3 }]);
  });

  it('stays where it was after an abort, though the log has grown and nothing is committed yet', async () => {
    const consumer = new ScriptedConsumer();
    consumer.logs.set('t-0', { logStart: 3, lastStable: 100 });
    const { assignment, lane } = await assigned(consumer, 'latest');
    consumer.logs.set('t-0', { logStart: 3, lastStable: 250 });
    assignment.accept([record(100), record(101)], () => undefined);
    await assignment.rewind(false);
    expect(consumer.seeks).toEqual([{ ...PARTITION, offset: 100 }]);
    expect(lane).toMatchObject({ committed: 100, pinned: false });
  });

  it('counts as committed when a commit without an answer turns out to have been one', async () => {
    const consumer = new ScriptedConsumer();
    consumer.logs.set('t-0', { logStart: 3, lastStable: 100 });
    const { assignment, lane } = await assigned(consumer, 'latest');
    consumer.offsets.set('t-0', 100);
    await assignment.rewind(false);
    expect(lane).toMatchObject({ committed: 100, pinned: true });
  });
});

/** Of a partition that the group has committed up to 8. */
async function committedTo8() {
  const consumer = new ScriptedConsumer();
  consumer.offsets.set('t-0', 8);
  const { assignment, lane } = await assigned(consumer);
  return { consumer, assignment, lane, ends: (offset: number) => assignment.acceptEnds([{ ...PARTITION, offset }]) };
}

const ignored = () => undefined;

describe('records that nobody reads', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'], now: 60_000 }));
  afterEach(() => void vi.useRealTimers());

  it('are passed behind the last record when the client has come to the end', async () => {
    const { assignment, lane, ends } = await committedTo8();
    vi.advanceTimersByTime(60_000);
    expect(assignment.unpinned).toEqual([]);
    ends(10);
    expect(lane.position).toBe(10);
    expect(assignment.unpinned).toEqual([lane]);
    lane.settled(10, 0);
    expect(assignment.unpinned, 'once they are committed').toEqual([]);
  });

  it('are not passed while a record before them waits to be committed', async () => {
    const { assignment, lane, ends } = await committedTo8();
    assignment.accept([record(8)], ignored);
    ends(10);
    expect(lane.position).toBe(8);
    lane.settled(9, 1);
    expect(lane.position).toBe(10);
  });

  it('are forgotten by a rewind: behind the committed offset there are records again', async () => {
    const { assignment, lane, ends } = await committedTo8();
    assignment.accept(
      Array.from({ length: 100 }, (_, n) => record(8 + n)),
      ignored,
    );
    ends(110);
    vi.advanceTimersByTime(60_000);
    await assignment.rewind(false);
    expect(lane.position).toBe(8);
    expect(assignment.unpinned).toEqual([]);
  });

  it('are not committed after each record of a slow input', async () => {
    const { assignment, lane, ends } = await committedTo8();
    vi.advanceTimersByTime(60_000);
    assignment.accept([record(8)], ignored);
    lane.settled(9, 1);
    ends(10);
    vi.advanceTimersByTime(1_000);
    expect(assignment.unpinned).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(assignment.unpinned).toEqual([lane]);
  });

  it('count as no lag', async () => {
    const { consumer, lane, ends } = await committedTo8();
    consumer.reports.set('t-0', { logStart: 0, lastStable: 10, nextFetch: 10, hasStopped: false });
    expect(lagOf(lane, consumer)).toBe(2);
    ends(10);
    expect(lagOf(lane, consumer)).toBe(0);
  });
});
