import { expect } from 'vitest';

import { copied } from '../helpers/copy.ts';
import type { Processor } from '../helpers/processor.ts';
import { it } from '../helpers/rig.ts';
import { startScenario, type Scenario } from '../helpers/scenario.ts';
import type { Seed } from '../helpers/seeder.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';

const STEP_MS = 30_000;

it('D1: scales 1→3→2→3→1 under load, each step within 30 s', async ({ rig }) => {
  const run = await startScenario(rig, { partitions: 6 });
  const feed = run.seeder.feed(workload(), 400);
  const running: Processor[] = [];
  let started = 0;
  for (const size of [1, 3, 2, 3, 1]) {
    const deadline = Date.now() + STEP_MS;
    while (running.length < size) running.push(await run.start(`i${started++}`));
    while (running.length > size) running.shift()?.signal('SIGTERM');
    await untilShared(run, rig.cluster, size, deadline);
    await run.untilCaughtUp(deadline - Date.now());
  }
  await feed.stop();
  const gone = run.processors.filter((processor) => !running.includes(processor));
  for (const processor of gone) expect(await processor.untilExit()).toEqual({ code: 0, signal: null });

  const { exposure } = await run.judge();
  expect(exposure.rebalances).toBeGreaterThanOrEqual(8);
});

/** The group has so many members, and all partitions are shared out among all of them. */
async function untilShared(
  { group, inputPartitions }: Scenario,
  cluster: { members(group: string): Promise<{ partitions: string[] }[]> },
  size: number,
  deadline: number,
): Promise<void> {
  let seen: { partitions: string[] }[] = [];
  await waitFor(
    `${size} members to share the partitions`,
    async () => {
      seen = await cluster.members(group);
      const shares = seen.map(({ partitions }) => partitions.length);
      const shared = shares.reduce((sum, share) => sum + share, 0);
      return seen.length === size && shares.every((share) => share > 0) && shared === inputPartitions.length;
    },
    { timeoutMs: deadline - Date.now(), everyMs: 200, seen: () => JSON.stringify(seen) },
  );
}

const SLOW_MS = 9_000;
const MAX_POLL_INTERVAL = '7s';

/** One record in partition 0 takes longer than the group waits; the transform copies all others. */
const slowTransform = (wait: string): string => `
  import { setTimeout as delay } from 'node:timers/promises';
  export default async ({ value }, { logger }) => {
    if (value.slow) { logger.info('slow: begin'); ${wait} }
    return [{ to: 'left', value }, { to: 'right', value }];
  };
`;

const seed = (partition: number, value: object): Seed => ({
  key: Buffer.from(`k${partition}`),
  value: Buffer.from(JSON.stringify(value)),
  partition,
});

/** How often the slow record was begun, by all processes. */
const begun = ({ processors }: Scenario): number =>
  processors.flatMap(({ log }) => log.filter((line) => line.includes('slow: begin'))).length;

it('D4: keeps the other partitions going while one record takes longer than max.poll.interval.ms', async ({ rig }) => {
  const run = await startScenario(rig, {
    partitions: 4,
    transform: slowTransform(`await delay(${SLOW_MS});`),
    expect: copied,
    consumer: { maxPollInterval: MAX_POLL_INTERVAL },
  });
  await run.startReady('a');
  await run.startReady('b');
  await untilShared(run, rig.cluster, 2, Date.now() + STEP_MS);
  const members = (await rig.cluster.members(run.group)).map(({ memberId }) => memberId).sort();

  await run.seeder.send([seed(0, { slow: true }), seed(0, { slow: false, n: 1 })]);
  await waitFor('the slow record', () => begun(run) === 1);

  const others = [1, 2, 3].flatMap((partition) =>
    Array.from({ length: 50 }, (_, n) => seed(partition, { slow: false, n })),
  );
  await run.seeder.send(others);
  await run.untilCommitted(others.length, SLOW_MS / 2);
  expect((await rig.cluster.committed(run.group, run.inputPartitions)).get(`${run.input}/0`) ?? 0).toBe(0);

  await run.judge();
  expect(begun(run), 'times the slow record was begun').toBe(1);
  expect((await rig.cluster.members(run.group)).map(({ memberId }) => memberId).sort()).toEqual(members);
});

it('D4: dead-letters a record that holds the event loop for longer than max.poll.interval.ms', async ({ rig }) => {
  const run = await startScenario(rig, {
    partitions: 2,
    transform: slowTransform(`for (const end = Date.now() + ${SLOW_MS}; Date.now() < end; );`),
    expect: (topics) => (source) => (source.value?.includes('true') ? { kind: 'dead-letter' } : copied(topics)(source)),
    pipeline: { retry: { attempts: 1 } },
    consumer: { maxPollInterval: MAX_POLL_INTERVAL },
  });
  await run.startReady('a');
  await run.startReady('b');
  await run.seeder.send([seed(0, { slow: true }), seed(0, { slow: false, n: 1 }), seed(1, { slow: false, n: 2 })]);

  const { exposure } = await run.judge({ timeoutMs: 90_000 });
  expect(exposure.rebalances).toBeGreaterThan(2);
  expect(begun(run), 'one try in each process').toBeLessThanOrEqual(2);
});
