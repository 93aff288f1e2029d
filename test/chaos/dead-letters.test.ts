import { expect } from 'vitest';

import { headerText } from '../../src/prove/log-record.ts';
import { copied, COPY } from '../helpers/copy.ts';
import { it } from '../helpers/rig.ts';
import { startScenario } from '../helpers/scenario.ts';
import type { Seed } from '../helpers/seeder.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import type { LogRecord } from '../../src/prove/log-record.ts';

const allDead = () => () => ({ kind: 'dead-letter' }) as const;

/** What somebody sends who gives a dead letter another try: the record as it stands there. */
const again = ({ key, value, headers }: LogRecord): Seed => ({
  key,
  value,
  headers: headers.map(([name, content]) => ({ [name]: content })),
});

it('H2: a dead letter that is sent again and fails again has no more headers than before', async ({ rig }) => {
  const run = await startScenario(rig, { expect: allDead });
  await run.startReady('a');
  const headers = [{ trace: Buffer.from('t1') }, { trace: Buffer.from('t2') }];
  await run.seeder.send([{ key: Buffer.from('k'), value: Buffer.from('{no json'), headers }]);
  const sizes: number[] = [];
  for (let round = 1; round <= 4; round++) {
    const { evidence } = await run.judge();
    const letters = evidence.visible.filter(({ topic }) => topic === run.deadLetters);
    expect(letters).toHaveLength(round);
    const [last] = letters.sort((a, b) => a.timestamp - b.timestamp).slice(-1);
    sizes.push(last!.headers.length);
    await run.seeder.send([again(last!)]);
  }
  expect(new Set(sizes).size, `headers of each: ${sizes.join(', ')}`).toBe(1);
});

it('H4: writes exactly one dead letter a record although it is killed between dead letters and their commit', async ({
  rig,
}) => {
  const run = await startScenario(rig, { transform: COPY, expect: allDead });
  let processor = await run.startReady('a');
  const poison = (): Seed => ({ key: null, value: Buffer.from('{no json') });
  const feed = run.seeder.feed(poison, 200);
  for (let kills = 0; kills < 5;) {
    if (await run.killInTransaction('a', processor)) kills++;
    processor = await run.startReady('a');
    await run.untilCaughtUp();
  }
  await feed.stop();
  const { exposure } = await run.judge();
  expect(exposure.killsInTransaction).toBe(5);
  expect(exposure.abortedRecords).toBeGreaterThan(0);
});

const SECRET = 'hunter2-hunter2';

it('H5: cuts the text of an error of 1 MB and keeps secrets out of it', async ({ rig }) => {
  process.env['CHAOS_PASSWORD'] = SECRET;
  rig.onEnd(() => delete process.env['CHAOS_PASSWORD']);
  const run = await startScenario(rig, {
    transform: `export default () => { throw new Error(('${SECRET} ' + 'x'.repeat(100)).repeat(10_000)); };`,
    expect: allDead,
    config: { kafka: { bootstrapServers: rig.bootstrapServers, properties: { 'sasl.password': '\${CHAOS_PASSWORD}' } } },
    pipeline: { retry: { attempts: 1 } },
  });
  const processor = await run.startReady('a');
  await run.seeder.send(Array.from({ length: 20 }, workload()));
  const { evidence } = await run.judge();
  for (const letter of evidence.visible) {
    const message = headerText(letter, '__millrace.errors.message') ?? '';
    expect(message.length).toBeLessThan(2_000);
    expect(letter.headers.map(([, content]) => content.toString()).join()).not.toContain(SECRET);
  }
  expect(evidence.visible.length).toBe(20);
  const log = processor.log.join('\n');
  expect(log).not.toContain(SECRET);
  expect(Math.max(...processor.log.map((line) => line.length)), 'longest line of the log').toBeLessThan(20_000);
});

it('G4: writes to a dead-letter topic with a single partition from several processes', async ({ rig }) => {
  const run = await startScenario(rig, { deadLetterPartitions: 1, partitions: 6 });
  for (const instance of ['a', 'b', 'c']) await run.startReady(instance);
  await run.seeder.send(Array.from({ length: 2_000 }, workload()));
  const { evidence } = await run.judge();
  const letters = evidence.visible.filter(({ topic }) => topic === run.deadLetters);
  expect(letters.length).toBe(100);
  await waitFor('nothing', () => true);
});
