import { expect } from 'vitest';

import { SESSION_TIMEOUT_MS } from '../helpers/pipeline-config.ts';
import type { Processor } from '../helpers/processor.ts';
import { it } from '../helpers/rig.ts';
import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';

/** Times that partitions came to a process or left it. */
const moves = async (processor: Processor): Promise<number> =>
  (await processor.until('its metrics', () => processor.metrics())).sum('millrace_rebalances_total');

it('D6: a rolling restart of two instances under load moves no partition', async ({ rig }) => {
  // Longer than a process takes to start, however busy the machine is.
  const run = await startScenario(rig, { partitions: 6, consumer: { sessionTimeout: '60s' } });
  let [a, b] = [await run.startReady('a'), await run.startReady('b')];
  const feed = run.seeder.feed(workload(), 400);
  const shares = async (): Promise<string[]> =>
    (await rig.cluster.members(run.group)).map(({ partitions }) => [...partitions].sort().join()).sort();
  await waitFor('both to have a share', async () => (await shares()).every((share) => share.split(',').length === 3));
  await run.untilCaughtUp();
  const before = await shares();

  const restart = async (processor: Processor, instance: string, other: Processor): Promise<Processor> => {
    const movesBefore = await moves(other);
    processor.signal('SIGTERM');
    expect(await processor.untilExit()).toEqual({ code: 0, signal: null });
    const successor = await run.startReady(instance);
    await run.untilCaughtUp(SESSION_TIMEOUT_MS);
    expect(await moves(other), `moves of partitions that ${instance}'s restart cost the other`).toBe(movesBefore);
    return successor;
  };
  for (let round = 0; round < 2; round++) {
    a = await restart(a, 'a', b);
    b = await restart(b, 'b', a);
  }
  expect(await shares()).toEqual(before);
  await feed.stop();
  await run.judge();
});

it('D6: of two idle processes under one instance id the first ends, naming the id and what to do', async ({ rig }) => {
  const run = await startScenario(rig);
  const first = await run.startReady('same');
  const second = await run.startReady('same');

  // Nothing is written, so it is the group that finds out, not the transaction coordinator.
  expect((await first.untilExit()).code).toBe(1);
  const last = first.log.at(-1) ?? '';
  expect(last).toContain(`group.instance.id ${run.group}.same.0`);
  expect(last).toContain('"instance"');
  expect(second.exit).toBeNull();
  await run.seeder.send(Array.from({ length: 100 }, workload()));
  await run.judge();
});

it('hands its partitions over at once when it stops, where static membership is off', async ({ rig }) => {
  const run = await startScenario(rig, { consumer: { staticMembership: false, sessionTimeout: '2m' } });
  await run.startReady('a');
  const leaving = await run.startReady('b');
  const feed = run.seeder.feed(workload(), 300);
  await leaving.until('an open transaction', () => run.hasOpenTransaction('b'));
  leaving.signal('SIGTERM');
  expect(await leaving.untilExit()).toEqual({ code: 0, signal: null });
  await run.untilCaughtUp();
  await feed.stop();
  await run.judge();
});
