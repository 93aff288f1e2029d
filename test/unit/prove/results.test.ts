import { describe, expect, it } from 'vitest';
import type { InputRecord, OutputRecord, RecordTransform } from '../../../src/pipeline/ports.ts';
import { agreed, resultsOf } from '../../../src/prove/results.ts';
import { PoisonRecord } from '../../../src/index.ts';

const source = (offset: number): InputRecord => ({
  topic: 'in',
  partition: 0,
  offset,
  timestamp: 1_000,
  key: null,
  value: Buffer.from(String(offset)),
});
const output = (value: string, change: Partial<OutputRecord> = {}): OutputRecord => ({
  output: 'out',
  topic: 'out',
  key: null,
  value: Buffer.from(value),
  timestamp: 1_000,
  eventId: 'in/0/7/0',
  ...change,
});
const results = (transform: RecordTransform, sources = [source(7)]) =>
  resultsOf(sources, { transform, attempts: 3, maxRecordBytes: 1_000 });
const resultOf = async (transform: RecordTransform) => (await results(transform)).get('in/0/7');

describe('what the workers are to write', () => {
  it('is what the transform gives, in the form in which it is written', async () => {
    const headers = [{ trace: Buffer.from('t') }];
    expect(await resultOf(() => [output('a', { headers }), output('b', { timestamp: 0 })])).toEqual({
      kind: 'outputs',
      outputs: [
        {
          topic: 'out',
          key: null,
          value: Buffer.from('a'),
          timestamp: 1_000,
          headers: [
            ['trace', Buffer.from('t')],
            ['event-id', Buffer.from('in/0/7/0')],
          ],
        },
        expect.objectContaining({ timestamp: 1 }),
      ],
    });
    expect(await resultOf(async () => [])).toEqual({ kind: 'filtered' });
  });

  it('is a dead letter where it fails in every try, is poison, or gives more than a record can hold', async () => {
    let tries = 0;
    const failing = (): never => {
      tries++;
      throw new Error('no');
    };
    expect(await resultOf(failing)).toEqual({ kind: 'dead-letter' });
    expect(tries).toBe(3);
    tries = 0;
    const poison = (): never => {
      tries++;
      throw new PoisonRecord('no');
    };
    expect(await resultOf(poison)).toEqual({ kind: 'dead-letter' });
    expect(tries).toBe(1);
    expect(await resultOf(() => [output('x'.repeat(1_000))])).toEqual({ kind: 'dead-letter' });
  });

  it('is what the last try gives', async () => {
    const third: RecordTransform = (_, attempt) => {
      if (attempt < 3) throw new Error('not yet');
      return [output('a')];
    };
    expect(await resultOf(third)).toMatchObject({ kind: 'outputs' });
  });
});

describe('two computations', () => {
  const both = async (first: RecordTransform, second: RecordTransform) =>
    [
      ...agreed(await results(first, [source(1), source(2)]), await results(second, [source(1), source(2)])).values(),
    ].map(({ kind }) => kind);

  it('agree where the transform gives the same', async () => {
    const copy: RecordTransform = ({ offset }) => [output(String(offset))];
    expect(await both(copy, copy)).toEqual(['outputs', 'outputs']);
  });

  it('leave open what differs in content, number, topic or kind', async () => {
    const copy: RecordTransform = ({ offset }) => [output(String(offset))];
    const onSecond =
      (other: RecordTransform): RecordTransform =>
      (record, attempt) =>
        record.offset === 2 ? other(record, attempt) : copy(record, attempt);
    const differing: RecordTransform[] = [
      () => [output('other')],
      () => [output('2'), output('2')],
      () => [output('2', { topic: 'elsewhere' })],
      () => [],
    ];
    for (const other of differing) expect(await both(copy, onSecond(other))).toEqual(['outputs', 'undetermined']);
  });
});
