import { expect } from 'vitest';

import { headerText, type LogRecord } from '../../src/prove/log-record.ts';
import { COPY } from '../helpers/copy.ts';
import { startScenario } from '../helpers/scenario.ts';
import type { Seed } from '../helpers/seeder.ts';
import { workload } from '../helpers/workload.ts';
import { rowsWith } from './rows.ts';

const row = rowsWith();

const allDead = () => () => ({ kind: 'dead-letter' }) as const;

/** What somebody sends who gives a dead letter another try: the record as it stands there. */
const again = ({ key, value, headers }: LogRecord): Seed => ({
  key,
  value,
  headers: headers.map(([name, content]) => ({ [name]: content })),
});

row('H2: a dead letter that is sent again and fails again has as many headers as before', async ({ rig, exposed }) => {
  const run = await startScenario(rig, { expect: allDead });
  await run.startReady('a');
  const headers = [{ trace: Buffer.from('t1') }, { trace: Buffer.from('t2') }];
  await run.seeder.send([{ key: Buffer.from('k'), value: Buffer.from('{no json'), headers }]);
  const sizes: number[] = [];
  for (let round = 1; round <= 4; round++) {
    const { evidence } = await run.judge();
    const letters = evidence.visible.filter(({ topic }) => topic === run.deadLetters);
    expect(letters).toHaveLength(round);
    const last = letters.reduce((a, b) => (b.timestamp >= a.timestamp ? b : a));
    sizes.push(last.headers.length);
    await run.seeder.send([again(last)]);
  }
  expect(new Set(sizes).size, `headers of each: ${sizes.join(', ')}`).toBe(1);
  exposed({ sources: 4 });
});

row(
  'H4: writes exactly one dead letter a record although it is killed between dead letters and their commit',
  async ({ rig, exposed }) => {
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
    await run.judge();
    exposed({ killsInTransaction: 5, abortedRecords: 1 });
  },
);

const SECRET = 'hunter2-hunter2';

row('H5: cuts the text of an error of 1 MB and keeps secrets out of it', async ({ rig, exposed }) => {
  process.env['CHAOS_PASSWORD'] = SECRET;
  rig.onEnd(() => delete process.env['CHAOS_PASSWORD']);
  const run = await startScenario(rig, {
    transform: `export default () => { throw new Error(('${SECRET} ' + 'x'.repeat(100)).repeat(10_000)); };`,
    expect: allDead,
    config: {
      kafka: { bootstrapServers: rig.bootstrapServers, properties: { 'client.rack': '${CHAOS_PASSWORD}' } },
    },
    pipeline: { retry: { attempts: 1 } },
  });
  const processor = await run.startReady('a');
  await run.seeder.send(Array.from({ length: 20 }, workload()));
  const { evidence } = await run.judge();
  for (const letter of evidence.visible) {
    const message = headerText(letter, '__millrace.errors.message') ?? '';
    expect(message.length).toBeGreaterThan(0);
    expect(message.length).toBeLessThan(2_000);
    expect(letter.headers.map(([, content]) => content.toString()).join()).not.toContain(SECRET);
  }
  const log = processor.log.join('\n');
  expect(log).not.toContain(SECRET);
  expect(Math.max(...processor.log.map((line) => line.length)), 'longest line of the log').toBeLessThan(20_000);
  exposed({ sources: 20 });
});

/** What a process that holds few records has, and some more. */
const MOST_MEMORY_BYTES = 400 << 20;
const MOST_LINES = 100;

row.for([
  ['H3: dead-letters an input of nothing but poison in bounded time and memory, and tells of it', '{no json', 20_000],
  ['H3: the same where each record is retried first, since it is the transform that fails', '{}', 400],
] as const)('%s', async ([, value, records], { rig, exposed }) => {
  const run = await startScenario(rig, {
    transform: `export default () => { throw new Error('always'); };`,
    expect: allDead,
  });
  const processor = await run.startReady('a');
  let mostBytes = 0;
  let isReadyThroughout = true;
  const isDone = async (): Promise<boolean> => {
    const metrics = await processor.metrics();
    mostBytes = Math.max(mostBytes, metrics?.sum('process_resident_memory_bytes') ?? 0);
    isReadyThroughout &&= (await processor.readiness())?.status === 200;
    return metrics?.sum('millrace_records_dead_lettered_total', { pipeline: 'p' }) === records;
  };
  await run.seeder.send(
    Array.from({ length: records }, (_, n) => ({ key: Buffer.from(`${n}`), value: Buffer.from(value) })),
  );
  await processor.until('all to be dead letters', isDone, { timeoutMs: 60_000, everyMs: 200 });
  await run.judge();

  expect(isReadyThroughout, 'whether it was ready throughout').toBe(true);
  expect(mostBytes).toBeLessThan(MOST_MEMORY_BYTES);
  const warnings = processor.log.filter((line) => line.includes('given up and dead-lettered'));
  expect(warnings.length, 'lines of the log that tell of it').toBeGreaterThan(0);
  expect(processor.log.length, 'lines of the log').toBeLessThan(MOST_LINES);
  rig.expose({ deadLetters: records, mostMegabytes: Math.round(mostBytes / 2 ** 20) });
  exposed({ sources: records, deadLetters: records });
});

row('G4: writes to a dead-letter topic with a single partition from several processes', async ({ rig, exposed }) => {
  const run = await startScenario(rig, { deadLetterPartitions: 1, partitions: 6 });
  for (const instance of ['a', 'b', 'c']) await run.startReady(instance);
  await run.seeder.send(Array.from({ length: 2_000 }, workload()));
  const { evidence } = await run.judge();
  rig.expose({ deadLetters: evidence.visible.filter(({ topic }) => topic === run.deadLetters).length });
  exposed({ deadLetters: 50, rebalances: 3 });
});
