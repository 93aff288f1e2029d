import { expect } from 'vitest';

import { commits, from } from '../helpers/kafka-proxy/request.ts';
import type { Processor } from '../helpers/processor.ts';
import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import { rowsWith, through } from './rows.ts';

const row = rowsWith();

const ROUNDS = 3;

row(
  'C3: the reply to a commit gets lost, and what it committed is neither lost nor done again',
  async ({ rig, proxy, random, exposed }) => {
    const run = await startScenario(rig, through(proxy));
    const processors = [await run.startReady('a'), await run.startReady('b')];
    const feed = run.seeder.feed(workload(), 300);
    await run.untilCommitted(500);
    for (let round = 1; round <= ROUNDS; round++) {
      const before = recyclesOf(processors);
      proxy.loseReplies(from(random.pick(['a', 'b']), commits));
      await waitFor('the producer to be replaced', () => recyclesOf(processors) > before);
      expect(proxy.counts.repliesLost).toBe(round);
      await run.untilCaughtUp();
    }
    await feed.stop();

    await run.judge();
    exposed({ repliesLost: ROUNDS, recycles: ROUNDS, rebalances: 2, transactions: 10 });
  },
);

const recyclesOf = (processors: readonly Processor[]): number =>
  processors.reduce((sum, { lastMetrics }) => sum + (lastMetrics?.sum('millrace_producer_recycles_total') ?? 0), 0);
