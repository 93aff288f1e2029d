import { describe, expect, it } from 'vitest';
import { report, verdictOf, type Findings } from '../../../src/prove/report.ts';

const good: Findings = {
  violations: [],
  exposure: {
    sources: 1_000,
    outputs: 900,
    deadLetters: 60,
    withoutResult: 40,
    transactions: 100,
    abortedTransactions: 7,
    abortedRecords: 70,
    kills: 5,
    killsInTransaction: 3,
    freezes: 2,
    rebalances: 9,
    unknownCommits: 1,
  },
  undetermined: { records: 0, withoutResult: 0 },
  stuck: null,
  collapses: [],
};
const exposedTo = (exposure: Partial<Findings['exposure']>): Findings => ({
  ...good,
  exposure: { ...good.exposure, ...exposure },
});
const lastLine = (findings: Findings) => report(findings).at(-1);

describe('the verdict', () => {
  it('is "exactly once" where nothing is wrong and enough has happened, with what happened', () => {
    expect(verdictOf(good)).toBe('exactly once');
    expect(lastLine(good)).toBe(
      'verdict: exactly once: 5 kills (3 in an open transaction), 2 freezes, 9 rebalances, and each of 1000 records has its one result',
    );
  });

  it('is "NOT exactly once" with a single violation, whatever else there is to say', () => {
    const findings: Findings = {
      ...exposedTo({ kills: 0 }),
      violations: [{ invariant: 'I1', at: 'in/0/7', found: '(outputs) has output 0 2 times' }],
    };
    expect(verdictOf(findings)).toBe('NOT exactly once');
    expect(lastLine(findings)).toBe('verdict: NOT exactly once: I1: 1');
    expect(report(findings)).toContain('  I1 in/0/7 (outputs) has output 0 2 times');
  });

  it.each<[string, Findings, RegExp]>([
    ['no kill met an open transaction', exposedTo({ killsInTransaction: 0 }), /no kill .*--for/],
    ['nobody was frozen', exposedTo({ freezes: 0 }), /frozen/],
    ['no partition changed hands', exposedTo({ rebalances: 0 }), /changed hands/],
    ['nothing was written', exposedTo({ outputs: 0, deadLetters: 0 }), /nothing was written/],
    ['records were left', { ...good, stuck: { records: 17, lastWords: 'a: held' } }, /17 records .*a: held/],
  ])('is "not proven" where %s', (_, findings, reason) => {
    expect(verdictOf(findings)).toBe('not proven');
    expect(lastLine(findings)).toMatch(/^verdict: not proven: /);
    expect(lastLine(findings)).toMatch(reason);
  });
});

describe('the report', () => {
  it('counts what the workers were exposed to', () => {
    const text = report(good).join('\n');
    expect(text).toMatch(/records in +1000\n/);
    expect(text).toMatch(/kills +5 +3 in an open transaction\n/);
    expect(text).toMatch(/unknown commits +1\n/);
  });

  it('says what could not be checked of a transform that is not deterministic', () => {
    const findings = { ...good, undetermined: { records: 12, withoutResult: 2 } };
    expect(report(findings).join('\n')).toMatch(/not deterministic: 12 records .*2 have none/);
    expect(lastLine(findings)).toMatch(/^verdict: exactly once: .*; unchecked: what 12 of the results should be$/);
  });

  it('tells of workers that ended by themselves, each reason once', () => {
    const lines = report({ ...good, collapses: ['no memory', 'no memory'] });
    expect(lines.filter((line) => line.includes('no memory'))).toHaveLength(1);
  });
});
