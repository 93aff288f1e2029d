import { describe, expect, it } from 'vitest';
import { createSerde } from '../../../src/serde/create-serde.ts';

const serde = (type: 'bytes' | 'string' | 'json') => createSerde({ type });

describe.each(['bytes', 'string', 'json'] as const)('%s', (type) => {
  it('turns null bytes into null and null into null bytes', () => {
    expect([serde(type).decode(null), serde(type).encode(null)]).toEqual([null, null]);
  });

  it.each([undefined, () => 1, Symbol('s')])('refuses to write %s', (value) => {
    expect(() => serde(type).encode(value)).toThrow();
  });
});

describe('bytes', () => {
  it('passes the same Buffer through', () => {
    const bytes = Buffer.from([0x00, 0xff]);
    expect(serde('bytes').decode(bytes)).toBe(bytes);
    expect(serde('bytes').encode(bytes)).toBe(bytes);
  });

  it('writes a part of a typed array as that part', () => {
    const part = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
    expect(serde('bytes').encode(part)).toEqual(Buffer.from([2, 3]));
  });

  it('refuses text: how to write it is not for it to guess', () => {
    expect(() => serde('bytes').encode('text')).toThrow("expected a Buffer or a Uint8Array, found string 'text'");
  });
});

describe('string', () => {
  it.each(['', 'SFO', 'Zürich ✈ 🛫', '\uFEFFwith a mark', '\uFFFD', 'nul\0'])('brings %j there and back', (text) => {
    expect(serde('string').decode(serde('string').encode(text))).toBe(text);
  });

  it('keeps the empty text apart from null', () => {
    expect(serde('string').encode('')).toEqual(Buffer.alloc(0));
    expect(serde('string').decode(Buffer.alloc(0))).toBe('');
  });

  it.each([[[0xff]], [[0xc3]], [[0xed, 0xa0, 0x80]]])('refuses bytes that are not UTF-8: %j', (bytes) => {
    expect(() => serde('string').decode(Buffer.from(bytes))).toThrow('not valid UTF-8');
  });

  it('refuses half a surrogate pair, which would be replaced', () => {
    expect(() => serde('string').encode('a\uD83D')).toThrow('half a surrogate pair');
  });

  it('refuses what is not text, with what it found', () => {
    expect(() => serde('string').encode(7)).toThrow('expected a string, found number 7');
    expect(() => serde('string').encode({ a: 1 })).toThrow('expected a string, found object { a: 1 }');
    expect(() => serde('string').encode('x'.repeat(100).split(''))).toThrow(
      /found array \[ 'x', 'x', 'x', ... 97 more items \]$/,
    );
  });
});

describe('json', () => {
  it.each([true, 0, '', 'text', [], {}, { a: [1, { b: null }] }])('brings %j there and back', (value) => {
    expect(serde('json').decode(serde('json').encode(value))).toEqual(value);
  });

  it('leaves out fields that are undefined, as JSON does', () => {
    expect(String(serde('json').encode({ a: 1, b: undefined }))).toBe('{"a":1}');
  });

  it('refuses the text null, which could not be told from a tombstone', () => {
    expect(() => serde('json').decode(Buffer.from(' null '))).toThrow('tombstone');
    expect(() => serde('json').encode({ toJSON: () => null })).toThrow('tombstone');
  });

  it.each([
    ['', 'not JSON: it is empty, but not null'],
    ['{"a":', 'not JSON: '],
    ['{"a":1} trailing', 'not JSON: '],
  ])('refuses %j', (text, message) => {
    expect(() => serde('json').decode(Buffer.from(text))).toThrow(message);
  });

  it('refuses bytes that are not UTF-8 inside a text', () => {
    expect(() => serde('json').decode(Buffer.from([0x22, 0xff, 0x22]))).toThrow('not valid UTF-8');
  });

  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;

  it.each([
    [{ a: { b: [1, Number.NaN] } }, 'a.b[1] is NaN'],
    [Infinity, 'the value is Infinity'],
    [{ price: 10n }, 'price is the BigInt 10: write it as a string'],
    [{ seats: [1, undefined] }, 'seats[1] is undefined'],
    [{ seats: new Map([['a', 1]]) }, 'seats is a Map'],
    [{ seats: new Set() }, 'seats is a Set'],
    [{ reason: new Error('why') }, 'reason is a Error'],
    [{ reply: Promise.resolve(1) }, 'reply is a Promise: an `await` may be missing'],
    [{ at: new Date(Number.NaN) }, 'at is an invalid Date'],
    [{ nested: { toJSON: () => ({ a: Number.NaN }) } }, 'nested.a is NaN'],
    [cyclic, 'Converting circular structure to JSON'],
  ])('refuses what JSON.stringify would alter or not take, with its path: %o', (value, message) => {
    expect(() => serde('json').encode(value)).toThrow(`not writable as JSON: ${message}`);
  });

  it('still writes null and empty objects inside a value', () => {
    expect(String(serde('json').encode({ a: null, b: {}, c: [null], d: 'null {}' }))).toBe(
      '{"a":null,"b":{},"c":[null],"d":"null {}"}',
    );
  });

  it('writes dates and whatever else has toJSON', () => {
    expect(String(serde('json').encode({ at: new Date(0), none: null }))).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","none":null}',
    );
  });
});
