import { countViolations, listViolations } from './checker.ts';
import type { Violation } from './checker/evidence.ts';
import type { Exposure } from './exposure.ts';

/** All that a proof found. */
export interface Findings {
  readonly violations: readonly Violation[];
  readonly exposure: Exposure;
  /** Records whose result differed from one computation to the next, and those of them that have no visible result. */
  readonly undetermined: { readonly records: number; readonly withoutResult: number };
  /** Records that were fed and never committed, and what the workers said of it; null where all were. */
  readonly stuck: { readonly records: number; readonly lastWords: string } | null;
  /** What workers said last that ended by themselves. */
  readonly collapses: readonly string[];
}

export type Verdict = 'exactly once' | 'NOT exactly once' | 'not proven';

/** What keeps a run without violations from being a proof. */
function gaps({ exposure, stuck }: Findings): string[] {
  const { outputs, deadLetters, killsInTransaction, freezes, rebalances } = exposure;
  const longer = 'prove for longer (--for)';
  return [
    ...(stuck ? [`${stuck.records} records were not committed in the end: ${stuck.lastWords}`] : []),
    ...(outputs + deadLetters === 0 ? ['nothing was written: the transform gives nothing for any of the records'] : []),
    ...(killsInTransaction === 0 ? [`no kill met an open transaction: ${longer}`] : []),
    ...(freezes === 0 ? [`no worker was frozen: ${longer}`] : []),
    ...(rebalances === 0 ? [`no partitions changed hands: ${longer}`] : []),
  ];
}

export function verdictOf(findings: Findings): Verdict {
  if (findings.violations.length > 0) return 'NOT exactly once';
  return gaps(findings).length > 0 ? 'not proven' : 'exactly once';
}

/** The table, what is wrong or could not be seen, and the verdict as the last line. */
export function report(findings: Findings): string[] {
  return [...table(findings.exposure), ...remarks(findings), `verdict: ${sentence(findings)}`];
}

function table(exposure: Exposure): string[] {
  const { abortedTransactions, abortedRecords, kills, killsInTransaction } = exposure;
  const rows: [what: string, count: number, more?: string][] = [
    ['records in', exposure.sources],
    ['outputs', exposure.outputs],
    ['dead letters', exposure.deadLetters],
    ['without result', exposure.withoutResult],
    ['transactions', exposure.transactions],
    [
      'aborted',
      abortedTransactions,
      `${abortedRecords} records of them are in the topics, and no reader of committed records sees them`,
    ],
    ['kills', kills, `${killsInTransaction} in an open transaction`],
    ['freezes', exposure.freezes],
    ['rebalances', exposure.rebalances],
    ['unknown commits', exposure.unknownCommits],
  ];
  return rows.map(
    ([what, count, more]) => `  ${what.padEnd(16)}${String(count).padStart(9)}${more ? `  ${more}` : ''}`,
  );
}

function remarks({ violations, collapses, undetermined }: Findings): string[] {
  const { records, withoutResult } = undetermined;
  return [
    ...listViolations(violations).map((line) => `  ${line}`),
    ...[...new Set(collapses)].map((words) => `a worker ended by itself and was started again: ${words}`),
    ...(records > 0
      ? [
          `the transform is not deterministic: ${records} records have another result each time it is computed. Of those it was ` +
            'checked that each has one whole result of one attempt, not which' +
            (withoutResult > 0 ? `; ${withoutResult} have none, which can not be told from a loss` : ''),
        ]
      : []),
  ];
}

function sentence(findings: Findings): string {
  const { exposure, violations, undetermined } = findings;
  switch (verdictOf(findings)) {
    case 'NOT exactly once':
      return `NOT exactly once: ${countViolations(violations)}`;
    case 'not proven':
      return `not proven: ${gaps(findings).join('; ')}`;
    case 'exactly once': {
      const { sources, kills, killsInTransaction, freezes, rebalances } = exposure;
      const unseen =
        undetermined.records > 0 ? `; unchecked: what ${undetermined.records} of the results should be` : '';
      return (
        `exactly once: ${kills} kills (${killsInTransaction} in an open transaction), ${freezes} freezes, ${rebalances} rebalances, ` +
        `and each of ${sources} records has its one result${unseen}`
      );
    }
  }
}
