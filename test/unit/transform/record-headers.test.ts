import { describe, expect, it } from 'vitest';
import { RecordHeaders } from '../../../src/index.ts';

const text = (headers: RecordHeaders) => [...headers].map(([name, value]) => `${name}=${value.toString()}`);
const aba = RecordHeaders.from([
  ['a', '1'],
  ['b', '2'],
  ['a', '3'],
]);

describe('RecordHeaders', () => {
  it('keeps order and duplicates', () => {
    expect(text(aba)).toEqual(['a=1', 'b=2', 'a=3']);
    expect(aba.size).toBe(3);
    expect(aba.getAll('a').map(String)).toEqual(['1', '3']);
    expect([...aba.entries()]).toEqual([...aba]);
  });

  it('answers with the last value of a name', () => {
    expect(aba.get('a')).toEqual(Buffer.from('3'));
    expect(aba.text('a')).toBe('3');
  });

  it.each(['c', 'constructor', '__proto__', 'toString'])('has no %s unless somebody put it there', (name) => {
    expect([aba.get(name), aba.text(name), aba.has(name), aba.getAll(name)]).toEqual([undefined, undefined, false, []]);
  });

  it('changes into new headers and stays as it is', () => {
    expect(text(aba.with('a', '9'))).toEqual(['b=2', 'a=9']);
    expect(text(aba.append('a', '9'))).toEqual(['a=1', 'b=2', 'a=3', 'a=9']);
    expect(text(aba.without('a'))).toEqual(['b=2']);
    expect(text(aba)).toEqual(['a=1', 'b=2', 'a=3']);
  });

  it('takes objects, pairs, maps, and text or bytes as values', () => {
    const bytes = Buffer.from([0x00, 0xff]);
    expect(text(RecordHeaders.from({ a: '1', b: new Uint8Array([50]) }))).toEqual(['a=1', 'b=2']);
    expect(text(RecordHeaders.from(new Map([['a', 'é']])))).toEqual(['a=é']);
    expect(RecordHeaders.from({ bytes }).get('bytes')).toBe(bytes);
    expect(RecordHeaders.from(aba)).toBe(aba);
  });

  it('takes the headers of another copy of this package', () => {
    const foreign = { [Symbol.iterator]: () => aba[Symbol.iterator]() };
    expect(text(RecordHeaders.from(foreign))).toEqual(text(aba));
  });

  it('passes the raw headers through untouched', () => {
    const raw = [{ a: Buffer.from('1') }];
    expect(RecordHeaders.fromRaw(raw).toRaw()).toBe(raw);
    expect(RecordHeaders.fromRaw(undefined).size).toBe(0);
  });
});
