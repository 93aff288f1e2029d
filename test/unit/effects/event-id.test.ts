import { describe, expect, it } from 'vitest';

import type { EventIdConfig } from '../../../src/config/compiled.ts';
import { eventIdFrom } from '../../../src/effects/event-id.ts';
import type { InputRecord } from '../../../src/pipeline/ports.ts';

const record = (given: Partial<InputRecord> = {}): InputRecord => ({
  topic: 'orders',
  partition: 3,
  offset: 42,
  timestamp: 0,
  key: null,
  value: null,
  ...given,
});

const idOf = (config: EventIdConfig, given: Partial<InputRecord>, value: unknown = null) =>
  eventIdFrom(config)(record(given), value);

const pointer = (pointer: string): EventIdConfig => ({ from: 'value', pointer });

describe('the event id', () => {
  it('comes from a header, the last one where there are several', () => {
    const headers = [{ 'event-id': Buffer.from('a') }, { 'event-id': Buffer.from('b') }];
    expect(idOf({ from: 'header', header: 'event-id' }, { headers })).toBe('b');
  });

  it('comes from the bytes of the key', () => {
    expect(idOf({ from: 'key' }, { key: Buffer.from('order-7') })).toBe('order-7');
  });

  it.each([
    ['/order/id', { order: { id: 'o-1' } }, 'o-1'],
    ['/lines/1', { lines: [7, 8] }, '8'],
    ['/a~1b/~0', { 'a/b': { '~': 'x' } }, 'x'],
    ['/id', { id: 12345678901234567890n }, '12345678901234567890'],
  ])('comes from the value at %s', (path, value, id) => {
    expect(idOf(pointer(path), {}, value)).toBe(id);
  });

  it('comes from the coordinates', () => {
    expect(idOf({ from: 'coordinates' }, {})).toBe('orders/3/42');
  });
});

describe('a record without an event id', () => {
  it.each<[EventIdConfig, Partial<InputRecord>, unknown, RegExp]>([
    [{ from: 'header', header: 'id' }, {}, null, /none was found in its header id/],
    [{ from: 'header', header: 'id' }, { headers: [{ id: Buffer.alloc(0) }] }, null, /an empty one .* header id/],
    [{ from: 'key' }, {}, null, /none was found in its key/],
    [pointer('/a/b'), {}, { a: null }, /none was found in its value at \/a\/b/],
    [pointer('/a'), {}, { a: { b: 1 } }, /none was found/],
    [pointer('/a'), {}, { a: true }, /none was found/],
    [pointer('/a'), {}, { a: '' }, /an empty one/],
    [pointer('/constructor/name'), {}, {}, /none was found/],
    [pointer('/length'), {}, [], /none was found/],
    [pointer('/00'), {}, ['x'], /none was found/],
  ])('is refused with the place: %j %j %j', (config, given, value, message) => {
    expect(() => idOf(config, given, value)).toThrow(message);
  });
});
