import { expect, it } from 'vitest';

import { findRows, idOf, namePattern } from '../../chaos/catalogue.ts';
import { hasPassed, report } from '../../chaos/report.ts';
import { createRandom } from '../../helpers/random.ts';
import { requireExposure } from '../../helpers/exposure.ts';

it('finds the rows of the suite and those of npm test by their titles', () => {
  const rows = findRows();
  expect(rows.get('C3')).toMatchObject({ files: ['test/chaos/network.test.ts'], projects: ['chaos'] });
  expect(rows.get('A1')).toMatchObject({ files: ['test/integration/crash.test.ts'], projects: ['integration'] });
  expect(rows.get('D4')?.titles).toHaveLength(2);
});

it('chooses rows by their whole id', () => {
  const pattern = namePattern(['T2', 'A1']);
  expect('T2: holds an abort').toMatch(pattern);
  expect('A1: survives').toMatch(pattern);
  for (const other of ['T2b: holds offsets', 'A11: other', 'after T2: nothing']) expect(other).not.toMatch(pattern);
  expect(idOf('T2b: holds offsets')).toBe('T2b');
});

const row = (id: string) => ({ id, titles: ['does it'], files: [], projects: [] });
const verdict = (id: string, failures: string[]) => ({ id, title: 'does it', seconds: 1, exposure: {}, failures });

it('counts a row that did not run, and one of whose tests one failed, as failed', () => {
  const verdicts = [verdict('A1', []), verdict('B1', []), verdict('B1', ['lost 1'])];
  expect(hasPassed(row('A1'), verdicts)).toBe(true);
  expect(hasPassed(row('B1'), verdicts)).toBe(false);
  expect(hasPassed(row('C1'), verdicts)).toBe(false);
  const rows = ['A1', 'B1', 'C1'].map(row);
  expect(report({ rows, verdicts, seed: 1, circumstances: [] })).toContain('1 passed, 2 failed');
});

it('reports what a row went through, in words where it has no column', () => {
  const verdicts = [{ ...verdict('A1', []), exposure: { transactions: 7, repliesLost: 2, requestsHeld: 0 } }];
  const text = report({ rows: [row('A1')], verdicts, seed: 42, circumstances: [] });
  expect(text).toContain('| A1 | does it | passed | 1 | 7 |  |  |  |  | 2 replies lost |');
  expect(text).toContain('seed 42');
});

it('fails a run that was not exposed to what it tries', () => {
  expect(() => requireExposure({ aborts: 2 }, { aborts: 2 })).not.toThrow();
  expect(() => requireExposure({ aborts: 1 }, { aborts: 2, kills: 1 })).toThrow(/aborts: 1 .* 2\n.*kills: 0 .* 1/);
});

it('makes the same choices under the same seed, and others under another', () => {
  const choices = (seed: string): number[] => {
    const random = createRandom(seed);
    return Array.from({ length: 20 }, () => random.integer(1, 100));
  };
  expect(choices('a')).toEqual(choices('a'));
  expect(choices('a')).not.toEqual(choices('b'));
  expect(choices('a').every((choice) => choice >= 1 && choice <= 100)).toBe(true);
});
