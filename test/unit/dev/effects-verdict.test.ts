import { describe, expect, it } from 'vitest';

import { type Applied, effectsTable, wrongEffects } from '../../../dev/demo/effects-verdict.ts';

const request = (idempotencyKey: string | undefined, body = `of ${idempotencyKey}`) => ({
  idempotencyKey,
  url: '/delays/ORD-LGA',
  body,
});

/** Three events, of which the second came twice to the database and the third twice to the desk. */
const right: Applied = {
  events: ['a', 'b', 'c'],
  before: 2,
  after: 1,
  repeats: 1,
  areCounted: true,
  stored: ['b', 'a', 'c'],
  requests: [request('a'), request('b'), request('c'), request('c')],
};

describe("the demo's look at the effects", () => {
  it('finds nothing wrong where each event has its one row and its one key', () => {
    expect(wrongEffects(right)).toEqual([]);
  });

  it.for<[what: string, found: Partial<Applied>]>([
    ['a row too many', { stored: ['a', 'b', 'b', 'c'] }],
    ['a row too few', { stored: ['a', 'b'] }],
    ['a row of another event', { stored: ['a', 'b', 'd'] }],
    ['an event applied twice', { after: 2 }],
    ['an event that the desk never heard of', { requests: [request('a'), request('b'), request('b')] }],
    ['a request without a key', { requests: [...right.requests, request(undefined)] }],
    ['two requests with one key', { requests: [...right.requests, request('a', 'something else')] }],
    ['a kill that repeated nothing at the database', { repeats: 0 }],
    ['a kill that repeated nothing at the desk', { requests: right.requests.slice(0, 3) }],
    ['no events', { events: [], before: 0, after: 0, stored: [], requests: [] }],
    ['two events with one id', { events: ['a', 'b', 'c', 'c'] }],
  ])('finds %s', ([, found]) => {
    expect(wrongEffects({ ...right, ...found })).not.toEqual([]);
  });

  it('shows the figures', () => {
    expect(effectsTable(right).split('\n')).toContain('  distinct idempotency keys        3');
  });
});
