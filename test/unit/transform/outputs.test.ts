import { describe, expect, it } from 'vitest';
import { RecordHeaders } from '../../../src/index.ts';
import { InvalidOutputError } from '../../../src/transform/errors.ts';
import { compiled, errorOf, outputsOf, record } from './compiled.ts';

const outputs = (result: unknown, formats: Parameters<typeof compiled>[1] = {}, input = record()) =>
  outputsOf(compiled(() => result, formats)(input, 1));
const refusal = (result: unknown, formats: Parameters<typeof compiled>[1] = {}) => {
  const error = errorOf(() => outputs(result, formats));
  expect(error).toBeInstanceOf(InvalidOutputError);
  return error.message;
};

describe('what a transform may return', () => {
  it.each([undefined, null])('filters with %s', (nothing) => {
    expect(outputs(nothing)).toEqual([]);
  });

  it('filters with an empty array', () => {
    expect(outputs([])).toEqual([]);
  });

  it('writes one record, or several in order', () => {
    expect(outputs({ value: 1 }).map(({ value }) => String(value))).toEqual(['1']);
    expect(outputs([{ value: 1 }, { value: 2 }]).map(({ value }) => String(value))).toEqual(['1', '2']);
  });

  it('inherits key, headers and timestamp', () => {
    const headers = [{ a: Buffer.from('1') }, { b: Buffer.from('2') }, { a: Buffer.from('3') }];
    const input = record({ headers });
    expect(outputs({ value: 1 }, {}, input)).toEqual([
      {
        output: 'out',
        topic: 'topic.out',
        key: input.key,
        value: Buffer.from('1'),
        timestamp: input.timestamp,
        headers,
        eventId: 'flights/3/42/0',
      },
    ]);
  });

  it('sets key, headers, timestamp and partition', () => {
    const [output] = outputs({ key: 'JFK', value: 1, headers: { a: 'x' }, timestamp: 5, partition: 2 });
    expect(output).toMatchObject({ key: Buffer.from('JFK'), timestamp: 5, partition: 2 });
    expect(output?.headers).toEqual([{ a: Buffer.from('x') }]);
  });

  it('drops key and headers when told to', () => {
    const input = record({ headers: [{ a: Buffer.from('1') }] });
    const [output] = outputs({ key: null, value: 1, headers: {} }, {}, input);
    expect(output).toMatchObject({ key: null });
    expect(output?.headers).toBeUndefined();
  });

  it('writes a tombstone for null', () => {
    expect(outputs({ value: null })).toMatchObject([{ value: null }]);
  });

  it('keeps the bytes of an inherited key where both sides have one format, and encodes it anew where not', () => {
    const input = record({ key: Buffer.from('{ "a": 1.0 }') });
    const inherited = outputs({ value: 1 }, { key: 'json' }, input);
    expect(inherited[0]?.key).toBe(input.key);
    const reencoded = outputs({ value: 1 }, { key: 'string', outputKey: 'json' }, input);
    expect(String(reencoded[0]?.key)).toBe(JSON.stringify('{ "a": 1.0 }'));
  });

  it('encodes a key object that the transform gives back, since it may have changed it', () => {
    const run = compiled(
      ({ key, value }) => {
        (key as { a: number }).a = 2;
        return { key, value };
      },
      { key: 'json' },
    );
    const [output] = outputsOf(run(record({ key: Buffer.from('{"a":1}') }), 1));
    expect(String(output?.key)).toBe('{"a":2}');
  });

  it('keeps the timestamp of a record that has none', () => {
    expect(outputs({ value: 1 }, {}, record({ timestamp: -1 }))).toMatchObject([{ timestamp: -1 }]);
  });

  it('writes to the output that `to` names', () => {
    const formats = { outputs: ['on-time', 'delayed'] };
    expect(outputs({ value: 1, to: 'delayed' }, formats)).toMatchObject([
      { output: 'delayed', topic: 'topic.delayed' },
    ]);
    expect(outputs({ value: 1, to: 'out' })).toMatchObject([{ output: 'out' }]);
  });
});

describe('what a transform may not return', () => {
  it('asks for `to` where there are several outputs', () => {
    expect(refusal({ value: 1 }, { outputs: ['on-time', 'delayed'] })).toBe(
      'output 0 of the transform: its `to` is missing, and there are several outputs: on-time, delayed',
    );
  });

  it('names the outputs, and the one that was probably meant', () => {
    expect(
      refusal(
        [
          { value: 1, to: 'on-time' },
          { value: 1, to: 'delaid' },
        ],
        { outputs: ['on-time', 'delayed'] },
      ),
    ).toBe(
      "output 1 of the transform: its `to` is 'delaid', which is no output. " +
        "Outputs: on-time, delayed; did you mean 'delayed'?",
    );
    expect(refusal({ value: 1, to: 'elsewhere' })).toBe(
      "output 0 of the transform: its `to` is 'elsewhere', which is no output. Outputs: out",
    );
  });

  it('asks for a missing value', () => {
    expect(refusal({ key: 'a' })).toContain('its `value` is missing');
    expect(refusal({ value: undefined })).toContain('`value: null` for a tombstone');
  });

  it('refuses a misspelt field, which would be ignored otherwise', () => {
    expect(refusal({ value: 1, header: {} })).toBe(
      'output 0 of the transform: it has a field `header`, which is none of ' +
        "key, value, headers, timestamp, to, partition; did you mean 'headers'?",
    );
  });

  it.each([false, 'text', 7])('refuses %j in place of a record', (result) => {
    expect(refusal(result)).toContain('expected { value, … }');
  });

  it('refuses a hole among several records', () => {
    const message = 'output 1 of the transform: expected { value, … }, found undefined';
    expect(refusal([{ value: 1 }, undefined])).toBe(message);
    const sparse: unknown[] = [{ value: 1 }];
    sparse[2] = { value: 3 };
    expect(refusal(sparse)).toBe(message);
  });

  it.each([Number.NaN, -1, 1.5, '5', null, new Date()])('refuses the timestamp %s', (timestamp) => {
    expect(refusal({ value: 1, timestamp })).toContain('its `timestamp` must be a whole number of milliseconds');
  });

  it.each([Number.NaN, -1, 1.5, '5', null, 2 ** 31])('refuses the partition %s', (partition) => {
    expect(refusal({ value: 1, partition })).toContain('its `partition` must be an integer from 0');
  });

  it.each([
    [{ seats: 7 }, 'header "seats" must be a string, a Buffer or a Uint8Array, found number'],
    [{ seats: null }, 'header "seats" must be a string, a Buffer or a Uint8Array, found null, which the Kafka client'],
    [null, 'headers must be an object or [name, value] pairs, found null'],
    ['a=b', 'headers must be an object or [name, value] pairs, found string'],
    [['a'], 'headers must be an object or [name, value] pairs'],
  ])('refuses the headers %j', (headers, message) => {
    expect(refusal({ value: 1, headers })).toContain(message);
  });
});

describe('event-id', () => {
  const brought = record({ headers: [{ 'event-id': Buffer.from('order-7') }, { a: Buffer.from('1') }] });
  const ids = (result: unknown, input = record()) =>
    outputs(result, {}, input).map(
      ({ eventId, headers }) => eventId ?? RecordHeaders.fromRaw(headers).text('event-id'),
    );

  it('is made from the source and the index of the output', () => {
    expect(ids([{ value: 1 }, { value: 2 }])).toEqual(['flights/3/42/0', 'flights/3/42/1']);
  });

  it('follows the record from partition to partition', () => {
    const run = compiled(({ value }) => ({ value }));
    const idOf = (changes: object) => outputsOf(run(record(changes), 1))[0]?.eventId;
    expect([idOf({}), idOf({ partition: 4 }), idOf({ topic: 'trains' }), idOf({ offset: 2 ** 52 })]).toEqual([
      'flights/3/42/0',
      'flights/4/42/0',
      'trains/3/42/0',
      `flights/3/${2 ** 52}/0`,
    ]);
  });

  it('is kept where the input brought one, and differs among several outputs', () => {
    expect(ids({ value: 1 }, brought)).toEqual(['order-7']);
    const several = outputs([{ value: 1 }, { value: 2 }], {}, brought);
    expect(several.map(({ eventId }) => eventId)).toEqual([undefined, 'order-7/1']);
    expect(several.map(({ headers }) => headers)).toEqual([brought.headers, [{ a: Buffer.from('1') }]]);
  });

  it('is derived from the one that was brought even if the transform replaces the headers', () => {
    expect(
      ids(
        [
          { value: 1, headers: {} },
          { value: 2, headers: { b: '2' } },
        ],
        brought,
      ),
    ).toEqual(['order-7', 'order-7/1']);
  });

  it('is the one that the transform sets', () => {
    const own = { 'event-id': 'mine' };
    expect(
      ids(
        [
          { value: 1, headers: own },
          { value: 2, headers: own },
        ],
        brought,
      ),
    ).toEqual(['mine', 'mine']);
  });

  it('does not take an empty one for an identity', () => {
    expect(ids({ value: 1 }, record({ headers: [{ 'event-id': Buffer.alloc(0) }] }))).toEqual(['flights/3/42/0']);
  });

  it('is told to the transform beforehand', () => {
    let told: string[] = [];
    const run = compiled((_, { eventId }) => {
      told = [eventId(0), eventId(1)];
    });
    outputsOf(run(brought, 1));
    expect(told).toEqual(['order-7', 'order-7/1']);
  });

  it.each([-1, 1.5, Number.NaN])('refuses the index %s', (index) => {
    expect(errorOf(() => compiled((_, { eventId }) => eventId(index))(record(), 1)).message).toContain(
      'eventId(index)',
    );
  });
});
