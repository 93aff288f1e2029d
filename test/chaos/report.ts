import type { Row } from './catalogue.ts';
import { countsOf, type Verdict } from './verdicts.ts';

export interface Run {
  readonly rows: readonly Row[];
  readonly verdicts: readonly Verdict[];
  readonly seed: number;
  /** Where, with what, and when: said above the tables. */
  readonly circumstances: readonly string[];
}

/** A row passes when it has run and all of its tests have passed. */
export function hasPassed({ id }: Row, verdicts: readonly Verdict[]): boolean {
  const own = verdicts.filter((verdict) => verdict.id === id);
  return own.length > 0 && own.every(({ failures }) => failures.length === 0);
}

export function summary({ rows, verdicts }: Run): string {
  const passed = rows.filter((row) => hasPassed(row, verdicts)).length;
  return `${passed} passed, ${rows.length - passed} failed`;
}

/** The columns that every run is judged by; what else was seen stands in the last one. */
const COLUMNS = [
  ['transactions', 'transactions'],
  ['aborts', 'abortedTransactions'],
  ['rebalances', 'rebalances'],
  ['kills in a transaction', 'killsInTransaction'],
  ['unknown commits', 'unknownCommits'],
] as const;

/** The report in Markdown. */
export function report(run: Run): string {
  const head = ['row', 'what was tried', 'verdict', 's', ...COLUMNS.map(([title]) => title), 'also'];
  const lines = [
    '# Fault suite',
    '',
    `${summary(run)}.`,
    '',
    ...[...run.circumstances, `seed ${run.seed}`].map((line) => `- ${line}`),
    '',
    ...table(
      head,
      run.rows.flatMap((row) => linesOf(row, run.verdicts)),
    ),
    ...run.verdicts.filter(({ failures }) => failures.length > 0).flatMap(failureOf),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

function linesOf(row: Row, verdicts: readonly Verdict[]): string[][] {
  const own = verdicts.filter(({ id }) => id === row.id);
  if (own.length === 0) return [[row.id, row.titles.join('; '), 'did not run', '', ...COLUMNS.map(() => ''), '']];
  return own.map(({ title, failures, seconds, exposure }) => {
    const shown: readonly string[] = COLUMNS.map(([, what]) => what);
    const others = Object.entries(exposure).filter(([what]) => !shown.includes(what));
    return [
      row.id,
      title.replaceAll('|', '\\|'),
      failures.length === 0 ? 'passed' : '**failed**',
      seconds.toFixed(0),
      ...shown.map((what) => String(exposure[what] ?? '')),
      countsOf(Object.fromEntries(others))
        .map(([what, count]) => `${count} ${what}`)
        .join(', '),
    ];
  });
}

const failureOf = ({ id, title, failures }: Verdict): string[] => [
  `## ${id}: ${title}`,
  '',
  '```',
  ...failures,
  '```',
  '',
];

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}
