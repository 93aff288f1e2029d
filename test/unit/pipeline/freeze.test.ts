import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { FreezeWatch } from '../../../src/pipeline/freeze.ts';

const LIMIT_MS = 10_000;
let now = 0;
let watch: FreezeWatch;

/** Time in which the process runs, and its timers with it. */
function run(ms: number): void {
  for (let step = 0; step < ms; step += 100) {
    now += 100;
    vi.advanceTimersByTime(100);
  }
}

/** Time in which it is stopped: its timers come only afterwards. */
function stop(ms: number): void {
  now += ms;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  watch = new FreezeWatch(LIMIT_MS);
  watch.start();
});
afterEach(() => {
  watch.stop();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a process', () => {
  it('that runs did not stand still, however long nobody asks', () => {
    run(10 * LIMIT_MS);
    expect(watch.check()).toBe(false);
  });

  it('that was stopped for the limit stood still, which is told once', () => {
    run(LIMIT_MS);
    stop(LIMIT_MS);
    expect(watch.check()).toBe(true);
    expect(watch.check()).toBe(false);
  });

  it('that was stopped stood still also when its timers run before anybody asks', () => {
    stop(LIMIT_MS);
    run(LIMIT_MS / 10);
    expect(watch.check()).toBe(true);
  });

  it('that was stopped for less did not', () => {
    for (let pause = 0; pause < 5; pause++) {
      run(2_000);
      stop(LIMIT_MS - 2_000);
    }
    expect(watch.check()).toBe(false);
  });
});
