import { expect, it } from 'vitest';

import type { Contents } from '../../../dev/demo/contents.ts';
import { compare } from '../../../dev/demo/verdict.ts';

const expected: Contents = {
  'on-time': ['ORD-LGA 1', 'ORD-LGA 2', 'DFW-SEA 3'],
  delayed: ['LAX-PHX 4'],
  'dead letters': ['key-0 none'],
};

/** The rows that differ, by name, with the records that they blame. */
function differing(seen: Partial<Contents>): Record<string, readonly string[]> {
  const rows = compare(expected, { ...expected, ...seen });
  return Object.fromEntries(rows.filter((row) => row.expected !== row.seen).map((row) => [row.what, row.culprits]));
}

it('has nothing to say of outputs that are as expected', () => {
  expect(differing({})).toEqual({});
});

it('does not mind how the records of different keys are mixed', () => {
  expect(differing({ 'on-time': ['DFW-SEA 3', 'ORD-LGA 1', 'ORD-LGA 2'] })).toEqual({});
});

it('blames a record that is there twice', () => {
  const seen = ['ORD-LGA 1', 'ORD-LGA 2', 'ORD-LGA 1', 'DFW-SEA 3'];
  expect(differing({ 'on-time': seen })).toEqual({ 'on-time': [], duplicates: ['ORD-LGA 1'] });
});

it('blames a record that is not there', () => {
  expect(differing({ delayed: [] })).toEqual({ delayed: [], missing: ['LAX-PHX 4'] });
});

it('blames a changed record, although the counts are right', () => {
  expect(differing({ 'dead letters': ['key-0 nane'] })).toEqual({
    missing: ['key-0 none'],
    unexpected: ['key-0 nane'],
  });
});

it('blames a record in the wrong output', () => {
  const seen = { 'on-time': [...expected['on-time'], 'LAX-PHX 4'], delayed: [] };
  expect(differing(seen)).toEqual({
    'on-time': [],
    delayed: [],
    missing: ['LAX-PHX 4'],
    unexpected: ['LAX-PHX 4'],
  });
});

it('blames a record behind a later one of its key', () => {
  expect(differing({ 'on-time': ['ORD-LGA 2', 'ORD-LGA 1', 'DFW-SEA 3'] })).toEqual({ 'out of order': ['ORD-LGA 1'] });
});
