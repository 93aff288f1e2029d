import { randomBytes } from 'node:crypto';

import { expect } from 'vitest';

import { COPY, copied } from '../helpers/copy.ts';
import { it } from '../helpers/rig.ts';
import { startScenario, type Scenario } from '../helpers/scenario.ts';
import type { Seed } from '../helpers/seeder.ts';

const POISON = '{poison';
const seed = (partition: number, value: string): Seed => ({
  key: Buffer.from('k'),
  value: Buffer.from(value),
  partition,
});

/** Sends records with a poisoned one in the middle of partition 0, and sees that partition held there, alone. */
async function untilHeld(run: Scenario, poison: Seed): Promise<void> {
  const processor = await run.startReady('a');
  const before = Array.from({ length: 5 }, (_, n) => seed(0, `{"n":${n}}`));
  const behind = Array.from({ length: 5 }, (_, n) => seed(0, `{"n":${n + 6}}`));
  await run.seeder.send([...before, poison, ...behind]);

  await processor.until('readiness to turn false', async () => (await processor.readiness())?.status === 503);
  const { body = '' } = (await processor.readiness()) ?? {};
  expect(body).toContain(`${run.input}-0`);
  expect(body).toContain('offset 5');
  expect((await processor.metrics())?.sum('millrace_held_partitions')).toBe(1);

  await run.seeder.send(Array.from({ length: 20 }, (_, n) => seed(1, `{"n":${n}}`)));
  await run.untilCommitted(5 + 20);
}

const expectation = (topics: { left: string; right: string }) => {
  const copy = copied(topics);
  return (source: Parameters<typeof copy>[0]) =>
    source.value?.toString().startsWith(POISON) ? ({ kind: 'dead-letter' } as const) : copy(source);
};

it('H1: holds the partition, commits nothing of it, and says so where no dead-letter topic is configured', async ({
  rig,
}) => {
  const run = await startScenario(rig, {
    partitions: 2,
    transform: COPY,
    expect: expectation,
    pipeline: { deadLetter: undefined },
  });
  await untilHeld(run, seed(0, POISON));
  await run.judge({ heldAt: new Map([[`${run.input}/0`, 5]]) });
});

it('H1: holds the partition while its dead letter can not be written, and goes on once it can', async ({ rig }) => {
  const run = await startScenario(rig, {
    partitions: 2,
    transform: COPY,
    expect: expectation,
    deadLetterConfig: { 'max.message.bytes': '2000' },
  });
  const poison = seed(0, POISON + randomBytes(2_000).toString('hex'));
  await untilHeld(run, poison);
  await run.judge({ heldAt: new Map([[`${run.input}/0`, 5]]) });

  await rig.cluster.alterTopic(run.deadLetters, 'max.message.bytes', '1000000');
  const { evidence } = await run.judge();
  expect(evidence.visible.filter(({ topic }) => topic === run.deadLetters).map(({ value }) => value)).toEqual([
    poison.value,
  ]);
  const [processor] = run.processors;
  await processor?.untilReady();
  expect((await processor?.metrics())?.sum('millrace_held_partitions')).toBe(0);
});
