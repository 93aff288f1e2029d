import { abortedRecords } from '../../src/prove/checker/transactions.ts';
import type { Evidence } from '../../src/prove/checker/evidence.ts';
import { transactionOf } from '../../src/prove/checker/trace.ts';
import type { Processor } from './processor.ts';

/** What was seen how often. */
export type Counts = Readonly<Record<string, number>>;

// `vitest` only passes the interface on.
declare module '@vitest/runner' {
  interface TaskMeta {
    /** What the test went through. */
    exposure?: Counts;
  }
}

/** What a run really went through: a verdict without it proves nothing. */
export type Exposure = Readonly<{
  sources: number;
  /** Transactions with something visible. */
  transactions: number;
  abortedRecords: number;
  abortedTransactions: number;
  /** As the processes counted it: those too that had nothing written yet. */
  abortsCounted: number;
  /** Times partitions changed hands, as the processes counted it. */
  rebalances: number;
  unknownCommits: number;
  /** Producers that were replaced, for whatever reason. */
  recycles: number;
}>;

export function exposureOf({ sources, visible, uncommitted }: Evidence, processors: readonly Processor[]): Exposure {
  const aborted = abortedRecords(visible, uncommitted);
  const counted = (name: string, labels?: Readonly<Record<string, string>>): number =>
    processors.reduce((sum, { lastMetrics }) => sum + (lastMetrics?.sum(name, labels) ?? 0), 0);
  return {
    sources: sources.length,
    transactions: new Set(visible.map(transactionOf)).size,
    abortedRecords: aborted.length,
    abortedTransactions: new Set(aborted.map(transactionOf)).size,
    abortsCounted: counted('millrace_transactions_total', { outcome: 'aborted' }),
    rebalances: counted('millrace_rebalances_total'),
    unknownCommits: counted('millrace_producer_recycles_total', { reason: 'unknown-commit' }),
    recycles: counted('millrace_producer_recycles_total'),
  };
}

/** Throws where a run did not go through what it was to be exposed to: its verdict would prove nothing. */
export function requireExposure(seen: Counts, least: Counts): void {
  const missing = Object.entries(least).filter(([what, count]) => (seen[what] ?? 0) < count);
  if (missing.length === 0) return;
  const lines = missing.map(([what, count]) => `  ${what}: ${seen[what] ?? 0} instead of at least ${count}`);
  throw new Error(`the run was not exposed to what it tries\n${lines.join('\n')}`);
}
