import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import kafka from '@confluentinc/kafka-javascript';
import { expect } from 'vitest';

import { call } from '../helpers/calls.ts';
import { COPY, copied } from '../helpers/copy.ts';
import { partitionId } from '../../src/pipeline/ports.ts';
import { headerText, type LogRecord } from '../../src/prove/log-record.ts';
import { lagOf } from '../helpers/at-rest.ts';
import { it } from '../helpers/rig.ts';
import { startScenario } from '../helpers/scenario.ts';
import type { Seed } from '../helpers/seeder.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
/** With an address: the client takes `Buffer.alloc(0)` for null. */
const EMPTY = Buffer.from(' ').subarray(0, 0);

it.for(['bytes', 'string'])('F1: keeps null and empty apart in keys and values (%s)', async (serde, { rig }) => {
  const run = await startScenario(rig, {
    transform: COPY,
    expect: copied,
    pipeline: {
      input: { topics: [`${rig.name}.in`], key: serde, value: serde },
      outputs: {
        left: { topic: `${rig.name}.left`, key: serde, value: serde },
        right: { topic: `${rig.name}.right`, key: serde, value: serde },
      },
    },
  });
  await run.startReady('a');
  const keys = [null, EMPTY, bytes('k')];
  const values = [null, EMPTY, bytes('v'), bytes('héllo ✓')];
  const headers = [{ a: bytes('1') }, { b: EMPTY }, { a: Buffer.from([0x00, 0xff]) }];
  const seeds = keys.flatMap((key) => values.map((value): Seed => ({ key, value })));
  const dated = seeds.map((seed, n): Seed => ({ ...seed, headers, timestamp: 1_000_000_000_000 + n }));
  await run.seeder.send([...seeds, ...dated]);

  const { evidence } = await run.judge();
  expect(evidence.visible).toHaveLength(2 * (seeds.length + dated.length));
  expect(evidence.visible.filter(({ value }) => value?.length === 0)).toHaveLength(2 * 2 * keys.length);
});

/** Leaves a line with the time for each try, so that the waits in between can be measured from outside. */
const FAILING = `
import { appendFileSync } from 'node:fs';

class Unlucky extends Error { name = 'Unlucky'; }

export default async ({ value }, { attempt }) => {
  const { fail } = value;
  if (fail) appendFileSync('tries.log', JSON.stringify({ fail, attempt, at: Date.now() }) + '\\n');
  if (fail === 'throws') throw new Unlucky('as asked');
  if (fail === 'rejects') return Promise.reject(new Unlucky('as asked'));
  if (fail === 'throws null') throw null;
  if (fail === 'wrong type') return value.missing.field;
  if (fail === 'recovers' && attempt < 3) throw new Unlucky('not yet');
  return [{ to: 'left', value }, { to: 'right', value }];
};
`;
const ATTEMPTS = 3;
const MIN_DELAY_MS = 300;
const MAX_DELAY_MS = 500;

it('F2: tries a failing record with back-off, dead-letters it, and keeps the order of the others', async ({ rig }) => {
  const run = await startScenario(rig, {
    partitions: 2,
    transform: FAILING,
    pipeline: { retry: { attempts: ATTEMPTS, minDelay: `${MIN_DELAY_MS}ms`, maxDelay: `${MAX_DELAY_MS}ms` } },
    expect: (topics) => (source) => {
      const text = source.value?.toString() ?? '';
      const isGood = /^\{"n":\d+\}$/.test(text) || text.includes('recovers');
      return isGood ? copied(topics)(source) : { kind: 'dead-letter' };
    },
  });
  const processor = await run.startReady('a');
  const seed = (value: string, n: number): Seed => ({ key: bytes(`k${n % 4}`), value: bytes(value), partition: n % 2 });
  const failures = ['throws', 'rejects', 'throws null', 'wrong type', 'recovers'];
  const lines = failures.flatMap((fail) => [`{"n":1}`, JSON.stringify({ fail }), `{"n":2}`, `{"n":3}`]);
  await run.seeder.send(['{"n":0}', '{garbage', ...lines].map(seed));

  const { evidence } = await run.judge();
  const letters = evidence.visible.filter(({ topic }) => topic === run.deadLetters);
  expect(letters.map(describeLetter).sort()).toEqual(
    [
      ['DecodeError', '1', '{garbage'],
      ['ThrownValue', '3', '{"fail":"throws null"}'],
      ['TypeError', '3', '{"fail":"wrong type"}'],
      ['Unlucky', '3', '{"fail":"rejects"}'],
      ['Unlucky', '3', '{"fail":"throws"}'],
    ].map((letter) => letter.join(' ')),
  );
  const tries = (await readFile(join(rig.folder, 'tries.log'), 'utf8')).trim().split('\n').map(readTry);
  for (const fail of failures) {
    const of = tries.filter((one) => one.fail === fail);
    expect(
      of.map(({ attempt }) => attempt),
      fail,
    ).toEqual([1, 2, 3]);
    const waits = of.slice(1).map(({ at }, n) => at - (of[n]?.at ?? 0));
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(MIN_DELAY_MS - 5);
    // A second for a busy machine: what counts is that it neither gives up nor waits for ever.
    for (const wait of waits) expect(wait).toBeLessThan(MAX_DELAY_MS + 1_000);
  }
  expect((await processor.metrics())?.sum('millrace_records_retried_total')).toBe(failures.length * (ATTEMPTS - 1));
});

const describeLetter = (letter: LogRecord): string =>
  [
    headerText(letter, '__millrace.errors.exception'),
    headerText(letter, '__millrace.errors.attempts'),
    letter.value?.toString(),
  ].join(' ');

const readTry = (line: string) => JSON.parse(line) as { fail: string; attempt: number; at: number };

it('F9: reads no aborted record of a transactional input, and its lag reaches 0 behind control records', async ({
  rig,
}) => {
  const run = await startScenario(rig, { partitions: 2, transform: COPY, expect: copied });
  const producer = new kafka.Producer({
    'bootstrap.servers': rig.bootstrapServers,
    'transactional.id': `${rig.name}-input`,
    log_level: 0,
  });
  await call<unknown>((done) => producer.connect({}, done));
  rig.onEnd(() => call<unknown>((done) => producer.disconnect(done)));
  await call<unknown>((done) => producer.initTransactions(10_000, (error) => done(error, null)));
  const processor = await run.startReady('a');
  // The last one is aborted: behind the last visible record there are aborted and control records only.
  for (let transaction = 0; transaction < 9; transaction++) {
    const isAborted = transaction % 3 === 2;
    await call<unknown>((done) => producer.beginTransaction((error) => done(error, null)));
    for (let n = 0; n < 20; n++)
      producer.produce(run.input, n % 2, bytes(JSON.stringify({ transaction, isAborted })), `k${n % 2}`);
    await call<unknown>((done) => producer.flush(10_000, (error) => done(error, null)));
    await call<unknown>((done) =>
      isAborted
        ? producer.abortTransaction(10_000, (error) => done(error, null))
        : producer.commitTransaction(10_000, (error) => done(error, null)),
    );
  }
  await processor.until('the committed transactions to be copied', async () => {
    const metrics = await processor.metrics();
    return metrics?.sum('millrace_records_committed_total') === 120;
  });

  const { evidence } = await run.judge();
  expect(evidence.sources).toHaveLength(120);
  expect(evidence.visible.filter(({ value }) => value?.includes('"isAborted":true'))).toEqual([]);
  const ends = await rig.cluster.ends(run.inputPartitions);
  expect(ends.reduce((sum, { highWatermark }) => sum + highWatermark, 0)).toBe(180 + 2 * 9);
  // The gauge is about a second behind: it is 0 for good once the offsets behind the last control records are committed.
  await processor.until('the group to commit past the control records', async () => {
    const committed = await rig.cluster.committed(run.group, run.inputPartitions);
    return ends.every((end) => committed.get(partitionId(end)) === end.lastStable);
  });
  await processor.until('the lag to be 0', async () => {
    const lag = await lagOf(run.processors, run.inputPartitions);
    return [...lag.values()].every((records) => records === 0);
  });
});
