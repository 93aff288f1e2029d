import { expect, inject } from 'vitest';

import { withOwnBroker } from '../helpers/own-broker.ts';
import type { Processor } from '../helpers/processor.ts';
import { createRandom } from '../helpers/random.ts';
import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import { FAULTS } from './faults.ts';
import { drifts, notFlat, overTime } from './report.ts';
import { startSampler } from './sampler.ts';

const PARTITIONS = 12;
const PER_SECOND = 200;
/** From the end of one fault to the next: long enough to recover, and for processes to grow old. */
const BETWEEN_FAULTS_MS = 30_000;
const RECOVERY_MS = 120_000;
const MINUTE_MS = 60_000;
/** For the start, the last recovery, and the readers and the checker at the end. */
const AROUND_MS = 10 * MINUTE_MS;

const it = withOwnBroker();
const minutes = inject('minutes');

it(
  `J3: stays exactly once and flat over ${minutes} min of load and faults`,
  { timeout: minutes * MINUTE_MS + AROUND_MS },
  async ({ rig, broker }) => {
    const random = createRandom(String(inject('seed')));
    const durationMs = minutes * MINUTE_MS;
    const run = await startScenario(rig, {
      partitions: PARTITIONS,
      pipeline: { workers: 2, transaction: { commitInterval: '100ms', timeout: '10s' } },
      // Low enough for what the client loses to show, high enough for a worker that is well.
      config: { worker: { maxMemory: '320MiB' } },
    });
    const running = new Map<string, Processor>();
    for (const instance of ['a', 'b']) running.set(instance, await run.startReady(instance));
    const feed = run.seeder.feed(workload(), PER_SECOND);
    const sampler = startSampler(() => [...running.values()].filter(({ exit }) => exit === null));
    const deadline = performance.now() + durationMs;
    const names = Object.keys(FAULTS);
    const made = new Map<string, number>();
    let next = performance.now() + BETWEEN_FAULTS_MS;
    while (performance.now() < deadline) {
      if (performance.now() < next) {
        await waitFor('the next fault', () => performance.now() >= Math.min(next, deadline), {
          timeoutMs: 2 * BETWEEN_FAULTS_MS,
        });
        continue;
      }
      const name = random.pick(names);
      await FAULTS[name]?.({ run, broker, random, running });
      made.set(name, (made.get(name) ?? 0) + 1);
      await run.untilCaughtUp(RECOVERY_MS);
      next = performance.now() + BETWEEN_FAULTS_MS;
    }
    sampler.stop();
    const counted = (reason: string): number =>
      run.processors.reduce(
        (sum, { lastMetrics }) => sum + (lastMetrics?.sum('millrace_worker_restarts_total', { reason }) ?? 0),
        0,
      );
    const restarts = { restartsAfterCrashes: counted('crash'), restartsForMemory: counted('memory') };
    await feed.stop();
    const { exposure } = await run.judge({ timeoutMs: RECOVERY_MS });
    rig.expose({ ...Object.fromEntries(made), ...restarts });
    console.info(
      [
        `faults: ${[...made].map(([name, count]) => `${count} × ${name}`).join(', ')}`,
        overTime(sampler.points, durationMs),
        drifts(sampler.points, durationMs),
      ].join('\n\n'),
    );
    expect(exposure.abortedRecords).toBeGreaterThan(0);
    expect(notFlat(sampler.points, durationMs), 'I11').toEqual([]);
  },
);
