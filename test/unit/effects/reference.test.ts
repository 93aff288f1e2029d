import { describe, expect, it } from 'vitest';

import { jsonText } from '../../../src/effects/json-text.ts';
import { parseReference } from '../../../src/effects/reference.ts';
import { parseTemplate } from '../../../src/effects/template.ts';
import { RecordHeaders } from '../../../src/transform/record-headers.ts';
import { effectRecord } from '../../helpers/effect-record.ts';

const record = effectRecord({
  key: { id: 1 },
  value: { a: { b: [10, { c: 'x' }] }, 'a.b': 1, 'a/b': 2, 'a~b': 3, '': 4, größe: 5, none: null },
  headers: RecordHeaders.from([
    ['trace.id', 'old'],
    ['trace.id', 'new'],
  ]),
  timestamp: 0,
  source: { topic: 't', partition: 3, offset: 9 },
  eventId: 'e',
});

describe('a reference', () => {
  it.each([
    ['key.id', 1],
    ['value.a.b.0', 10],
    ['value.a.b.1.c', 'x'],
    ['value/a/b/1/c', 'x'],
    ['value/a.b', 1],
    ['value/a~1b', 2],
    ['value/a~0b', 3],
    ['value/', 4],
    ['value.größe', 5],
    ['value.none', null],
    ['value.none.more', undefined],
    ['value.a.b.7', undefined],
    ['value.constructor', undefined],
    ['value.a.b.length', undefined],
    ['header.trace.id', 'new'],
    ['header.other', undefined],
    ['eventId', 'e'],
    ['timestamp', '1970-01-01T00:00:00.000Z'],
    ['topic', 't'],
    ['partition', 3],
    ['offset', 9],
  ])('%s', (text, value) => {
    expect(parseReference(text).resolve(record)).toEqual(value);
  });

  it('to a time that the record does not have finds none', () => {
    expect(parseReference('timestamp').resolve({ ...record, timestamp: -1 })).toBeUndefined();
  });

  it.each(['', 'valu', 'value.', 'value.a.', 'valuea', 'header.', 'eventId.x', 'toString', 'source.topic', 'value/~2'])(
    'is refused: "%s"',
    (text) => {
      expect(() => parseReference(text)).toThrow();
    },
  );
});

describe('a template', () => {
  it('has braces where they are doubled', () => {
    expect(parseTemplate('a {{b}} {{{key}}}').map((part) => (typeof part === 'string' ? part : part.text))).toEqual([
      'a {b} {',
      'key',
      '}',
    ]);
  });

  it.each(['{', 'a}', '{key', '{a{key}}', '{}'])('is refused: "%s"', (text) => {
    expect(() => parseTemplate(text)).toThrow();
  });
});

describe('JSON of a record', () => {
  it('keeps every digit of a BigInt, and bytes as they are to be written', () => {
    const value = {
      n: -(2n ** 63n),
      text: '12',
      deep: [{ b: Buffer.from('hi') }],
      u: new Uint8Array([1]),
      none: undefined,
    };
    expect(jsonText(value, (bytes) => bytes.toString('hex'))).toBe(
      '{"n":-9223372036854775808,"text":"12","deep":[{"b":"6869"}],"u":"01"}',
    );
    expect(jsonText(undefined, String)).toBe('null');
  });
});
