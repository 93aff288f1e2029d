import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SchemaError } from '../../../src/serde/avro.ts';
import { createSerde } from '../../../src/serde/create-serde.ts';

const folder = mkdtempSync(join(tmpdir(), 'avro-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function serdeOf(schema: unknown) {
  const schemaPath = join(folder, `${files++}.avsc`);
  writeFileSync(schemaPath, typeof schema === 'string' ? schema : JSON.stringify(schema));
  return createSerde({ type: 'avro', schemaPath });
}
const recordOf = (type: unknown) => serdeOf({ type: 'record', name: 'Row', fields: [{ name: 'field', type }] });
const there = (serde: ReturnType<typeof serdeOf>, value: unknown) => serde.decode(serde.encode(value));

describe('avro', () => {
  it('brings a record there and back as plain fields', () => {
    const serde = serdeOf({
      type: 'record',
      name: 'Flight',
      fields: [
        { name: 'origin', type: 'string' },
        { name: 'delay', type: 'int' },
        { name: 'gate', type: ['null', 'string'], default: null },
      ],
    });
    expect({ ...(there(serde, { origin: 'SFO', delay: -3, gate: 'B7' }) as object) }).toEqual({
      origin: 'SFO',
      delay: -3,
      gate: 'B7',
    });
    expect(there(serde, { origin: 'SFO', delay: -3 })).toMatchObject({ gate: null });
    expect(JSON.stringify(there(serde, { origin: 'SFO', delay: 0, gate: null }))).toBe(
      '{"origin":"SFO","delay":0,"gate":null}',
    );
  });

  it('turns null bytes into null and null into null bytes, and refuses an encoded null', () => {
    const serde = serdeOf(['null', 'string']);
    expect([serde.decode(null), serde.encode(null)]).toEqual([null, null]);
    expect(() => serde.decode(Buffer.from([0]))).toThrow('tombstone');
  });

  it('refuses truncated bytes, trailing bytes and unknown branches', () => {
    const serde = serdeOf({ type: 'record', name: 'Flight', fields: [{ name: 'gate', type: ['null', 'string'] }] });
    const bytes = serde.encode({ gate: 'B7' }) ?? Buffer.alloc(0);
    expect(() => serde.decode(bytes.subarray(0, 2))).toThrow('not Avro of schema Flight: truncated buffer');
    expect(() => serde.decode(Buffer.concat([bytes, Buffer.from([0])]))).toThrow('trailing data');
    expect(() => serde.decode(Buffer.from([8]))).toThrow('invalid union index');
    expect(() => serde.decode(Buffer.alloc(0))).toThrow('not Avro of schema Flight');
  });

  it('names the field that does not fit, what was expected and what was found', () => {
    const serde = serdeOf({
      type: 'record',
      name: 'Flight',
      fields: [
        {
          name: 'legs',
          type: { type: 'array', items: { type: 'record', name: 'Leg', fields: [{ name: 'miles', type: 'int' }] } },
        },
      ],
    });
    expect(() => serde.encode({ legs: [{ miles: 1 }, { miles: '2' }] })).toThrow(
      "legs.1.miles: expected int, found string '2'",
    );
    expect(() => serde.encode({ legs: [{}] })).toThrow('legs.0.miles: expected int, found undefined');
    expect(() => serde.encode(7)).toThrow('the value: expected Flight, found number 7');
  });
});

describe('avro long', () => {
  const limits = [
    0,
    -1,
    1,
    63,
    64,
    -64,
    -65,
    2 ** 31,
    2 ** 51,
    -(2 ** 51),
    2 ** 52,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
  ];

  it.each(limits)('is the number %d where a number is exact', (value) => {
    expect(there(recordOf('long'), { field: value })).toMatchObject({ field: value });
  });

  it.each([2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)])(
    'is the BigInt %d beyond',
    (value) => {
      expect(there(recordOf('long'), { field: value })).toMatchObject({ field: value });
    },
  );

  it('takes a small BigInt and gives it back as a number', () => {
    expect(there(recordOf('long'), { field: 7n })).toMatchObject({ field: 7 });
  });

  it('writes the bytes that Avro specifies', () => {
    const bytesOf = (value: unknown) => recordOf('long').encode({ field: value })?.toString('hex');
    expect([0, -1, 1, -64, 64, 2n ** 63n - 1n, -(2n ** 63n)].map(bytesOf)).toEqual([
      '00',
      '01',
      '02',
      '7f',
      '8001',
      'feffffffffffffffff01',
      'ffffffffffffffffff01',
    ]);
  });

  it.each([2 ** 53, 1.5, Number.NaN, '7', 2n ** 63n, null])('refuses %s rather than round it', (value) => {
    expect(() => recordOf('long').encode({ field: value })).toThrow('field: expected long');
  });

  it('refuses a longer number than 64 bits', () => {
    expect(() => recordOf('long').decode(Buffer.from('ffffffffffffffffff7f', 'hex'))).toThrow('more than 64 bits');
    expect(() => recordOf('long').decode(Buffer.from('ffffffffffffffffffff01', 'hex'))).toThrow('more than 64 bits');
  });

  it('is exact in timestamps too', () => {
    const micros = recordOf({ type: 'long', logicalType: 'timestamp-micros' });
    expect(there(micros, { field: 2n ** 60n + 1n })).toMatchObject({ field: 2n ** 60n + 1n });
    expect(there(micros, { field: 1_700_000_000_123_456 })).toMatchObject({ field: 1_700_000_000_123_456 });
  });

  it('has exact defaults or none', () => {
    const withDefault = (value: string) =>
      `{"type":"record","name":"R","fields":[{"name":"field","type":"long","default":${value}}]}`;
    expect(there(serdeOf(withDefault('7')), {})).toMatchObject({ field: 7 });
    expect(() => serdeOf(withDefault('9007199254740993'))).toThrow('default');
  });
});

describe('avro decimal', () => {
  const money = { type: 'bytes', logicalType: 'decimal', precision: 6, scale: 2 };
  const fixed = { type: 'fixed', name: 'Money', size: 3, logicalType: 'decimal', precision: 6, scale: 2 };

  it.each(['0.00', '12.50', '-12.50', '9999.99', '-9999.99', '0.01', '-1.28', '1.28'])(
    'brings %s there and back',
    (field) => {
      expect(there(recordOf(money), { field })).toMatchObject({ field });
      expect(there(recordOf(fixed), { field })).toMatchObject({ field });
    },
  );

  it('fills up the scale', () => {
    expect(there(recordOf(money), { field: '7' })).toMatchObject({ field: '7.00' });
    expect(there(recordOf({ ...money, scale: 0 }), { field: '-7' })).toMatchObject({ field: '-7' });
  });

  it('reads and writes the bytes that Avro specifies', () => {
    expect(recordOf(money).encode({ field: '-1.28' })?.toString('hex')).toBe('0280');
    expect(recordOf(money).decode(Buffer.from('0600ff80', 'hex'))).toMatchObject({ field: '654.08' });
    expect(recordOf(money).decode(Buffer.from('00', 'hex'))).toMatchObject({ field: '0.00' });
  });

  it.each(['1.234', '10000.00', '1e3', 'abc', '', 12.5, 7n])('refuses %s rather than round it', (field) => {
    expect(() => recordOf(money).encode({ field })).toThrow('field: expected decimal');
  });

  it('stays bytes where its declaration is not valid', () => {
    expect(there(recordOf({ type: 'bytes', logicalType: 'decimal' }), { field: Buffer.from([1]) })).toMatchObject({
      field: Buffer.from([1]),
    });
  });
});

describe('avro unions', () => {
  it.each([
    [['null', 'long'], 7],
    [['null', 'long'], null],
    [['null', { type: 'bytes', logicalType: 'decimal', precision: 4, scale: 1 }], '1.5'],
    [['null', 'string', 'long'], 'a'],
  ])('of %j hold %j as it is', (type, field) => {
    expect(there(recordOf(type), { field })).toMatchObject({ field });
  });

  it.each([
    [['int', 'long'], { long: 2n ** 60n }],
    [['null', 'long', 'double'], { double: 1.5 }],
    [['string', { type: 'bytes', logicalType: 'decimal', precision: 4, scale: 1 }], { string: '1.5' }],
  ])('of %j name the branch, since the value alone does not tell it: %o', (type, field) => {
    expect(there(recordOf(type), { field })).toMatchObject({ field });
  });
});

describe('an avro schema', () => {
  it.each([
    ['{"type":', 'not JSON'],
    [
      { type: 'record', name: 'Row', fields: [{ name: 'field', type: 'lonk' }] },
      'not a valid schema: undefined type name: lonk',
    ],
  ])('is refused with its file when it is %j', (schema, message) => {
    expect(() => serdeOf(schema)).toThrow(SchemaError);
    expect(() => serdeOf(schema)).toThrow(new RegExp(`^Avro schema ${folder}/\\d+\\.avsc: ${message}`));
  });

  it('is refused when the file is missing', () => {
    const schemaPath = join(folder, 'none.avsc');
    expect(() => createSerde({ type: 'avro', schemaPath })).toThrow(
      `Avro schema ${schemaPath}: the file can not be read: no such file`,
    );
  });
});
