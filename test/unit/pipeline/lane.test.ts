import { describe, expect, it, onTestFinished, vi } from 'vitest';

import type { Completed } from '../../../src/pipeline/lane.ts';
import { laneContext, record, transformLane } from './bench.ts';

describe('a lane', () => {
  it('takes a record once that the client delivers again after a pause', () => {
    const completed: Completed[] = [];
    const lane = transformLane(laneContext(completed));
    for (const offset of [0, 1, 1, 2]) lane.accept(record(offset));
    lane.pump();
    lane.accept(record(2));
    lane.pump();
    expect(completed.map(({ offset }) => offset)).toEqual([0, 1, 2]);
  });

  it('gives the event loop back between slow records, and asks to be gone on with', () => {
    const completed: Completed[] = [];
    let wakes = 0;
    const context = { ...laneContext(completed), wake: () => wakes++ };
    let now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => clock.mockRestore());
    const slow = (): [] => {
      now += 15;
      return [];
    };
    const lane = transformLane(context, {}, slow);
    for (let offset = 0; offset < 5; offset++) lane.accept(record(offset));
    lane.pump();
    expect(completed).toHaveLength(2);
    expect(wakes).toBe(1);
    lane.pump();
    lane.pump();
    expect(completed.map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4]);
    expect(wakes).toBe(2);
  });

  it('leaves out what is committed already, also when nothing was read yet', () => {
    const completed: Completed[] = [];
    const lane = transformLane(laneContext(completed), { offset: 5 });
    for (const offset of [4, 5]) lane.accept(record(offset));
    lane.pump();
    lane.rewind(7, true);
    for (const offset of [6, 7]) lane.accept(record(offset));
    lane.pump();
    expect(completed.map(({ offset }) => offset)).toEqual([5, 7]);
  });

  it('is paused by a few large records, and resumed when they are done with', () => {
    const lane = transformLane();
    const mebibyte = Buffer.alloc(1 << 20);
    for (let offset = 0; offset < 15; offset++) lane.accept(record(offset, mebibyte));
    expect(lane.shouldPause).toBe(false);
    lane.accept(record(15, mebibyte));
    expect(lane.shouldPause).toBe(true);
    expect(lane.shouldResume).toBe(false);
    lane.pump();
    expect(lane.shouldResume).toBe(true);
  });

  it('is paused by large keys, too', () => {
    const lane = transformLane();
    for (let offset = 0; offset < 16; offset++) lane.accept({ ...record(offset), key: Buffer.alloc(1 << 20) });
    expect(lane.shouldPause).toBe(true);
  });
});
