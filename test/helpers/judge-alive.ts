import { expect } from 'vitest';

import type { Scenario } from './scenario.ts';
import type { Feed } from './seeder.ts';

/** Everything is done with, by the processes that were there all the time. */
export async function judgeAlive(run: Scenario, feed: Feed, timeoutMs?: number): Promise<void> {
  await run.untilCaughtUp(timeoutMs);
  await feed.stop();
  await run.judge();
  for (const processor of run.processors) {
    expect(processor.exit).toBeNull();
    await processor.untilReady();
  }
}
