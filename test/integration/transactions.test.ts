import { randomBytes } from 'node:crypto';

import { expect } from 'vitest';

import type { Expectation, ExpectedOutput } from '../../src/prove/checker/evidence.ts';
import { headerText, type LogRecord } from '../../src/prove/log-record.ts';
import { it } from '../helpers/rig.ts';
import { startScenario, type Scenario } from '../helpers/scenario.ts';
import type { Seed } from '../helpers/seeder.ts';
import { workload } from '../helpers/workload.ts';

it('T3: of two deployments under one transactional id the first ends, naming it, and the second goes on', async ({
  rig,
}) => {
  const run = await startScenario(rig);
  const feed = run.seeder.feed(workload(), 300);
  const first = await run.startReady('same');
  await first.until('an open transaction', () => run.hasOpenTransaction('same'));
  const second = await run.start('same');

  expect((await first.untilExit()).code).toBe(1);
  expect(first.log.join('\n')).toContain(`${run.group}.same.`);
  await second.untilReady();
  await run.untilCaughtUp();
  expect(second.exit).toBeNull();
  await feed.stop();
  await run.judge();
  expect(second.exit).toBeNull();
});

it('T7: commits the offsets of a batch whose records are all filtered', async ({ rig }) => {
  const run = await startScenario(rig, {
    transform: 'export default () => undefined;\n',
    expect: () => () => ({ kind: 'filtered' }),
  });
  const processor = await run.startReady('a');
  await run.seeder.send(
    Array.from({ length: 500 }, (_, n) => ({ key: Buffer.from(`k${n}`), value: Buffer.from('{}') })),
  );

  const { evidence } = await run.judge();
  expect(evidence.visible).toEqual([]);
  expect([...evidence.committed.values()].reduce((sum, offset) => sum + offset)).toBe(500);
  expect((await processor.metrics())?.sum('millrace_records_filtered_total')).toBe(500);
});

const BIG = 7;

/** Writes as much as the record asks for, incompressible, to its second output. */
const GROWING = `
export default ({ value: { id, text } }) => [
  { to: 'left', value: { id } },
  { to: 'right', value: text },
];
`;

/** 60 records; `bigBytes` of text in one of them, a little in the others. */
function growing(bigBytes: number): Seed[] {
  return Array.from({ length: 60 }, (_, id) => {
    const text = randomBytes((id === BIG ? bigBytes : 3_000) / 2).toString('hex');
    return { key: Buffer.from(`k${id % 5}`), value: Buffer.from(JSON.stringify({ id, text })) };
  });
}

const grown =
  ({ left, right }: { left: string; right: string }) =>
  ({ key, value, headers, timestamp }: LogRecord): Expectation => {
    const { id, text } = JSON.parse(value?.toString() ?? '') as { id: number; text: string };
    if (id === BIG) return { kind: 'dead-letter' };
    const output = (topic: string, content: unknown): ExpectedOutput => ({
      topic,
      key,
      value: Buffer.from(JSON.stringify(content)),
      headers,
      timestamp,
    });
    return { kind: 'outputs', outputs: [output(left, { id }), output(right, text)] };
  };

async function judgeOversize(run: Scenario): Promise<void> {
  const { evidence } = await run.judge();
  const letters = evidence.visible.filter(({ topic }) => topic === run.deadLetters);
  expect(letters.map((letter) => headerText(letter, '__millrace.errors.exception'))).toEqual(['RecordTooLarge']);
}

it('T9: dead-letters only the source of an output that is too large for the client', async ({ rig }) => {
  const run = await startScenario(rig, {
    transform: GROWING.replace('value: text', `value: id === ${BIG} ? text.repeat(500) : text`),
    expect: grown,
    partitions: 2,
  });
  await run.startReady('a');
  await run.seeder.send(growing(4_000));
  await judgeOversize(run);
});

it('T9: dead-letters only the source of an output that is too large for its topic', async ({ rig }) => {
  const run = await startScenario(rig, {
    transform: GROWING,
    expect: grown,
    partitions: 2,
    outputConfig: { 'max.message.bytes': '20000' },
  });
  await run.startReady('a');
  await run.seeder.send(growing(40_000));
  await judgeOversize(run);
});

it('loses none of the records that were read long before an abort', async ({ rig }) => {
  const run = await startScenario(rig, {
    // The record that is refused comes seconds after the client has fetched all there is.
    transform: `import { setTimeout as delay } from 'node:timers/promises';
      export default async ({ value: { id, text } }) => {
        await delay(id < ${BIG} ? 500 : 0);
        return [{ to: 'left', value: { id } }, { to: 'right', value: text }];
      };`,
    expect: grown,
    partitions: 1,
    outputConfig: { 'max.message.bytes': '20000' },
  });
  await run.seeder.send(growing(40_000));
  await run.startReady('a');
  await judgeOversize(run);
});
