import { abortedRecords } from '../../src/prove/checker/transactions.ts';
import type { Evidence } from '../../src/prove/checker/evidence.ts';
import { transactionOf } from '../../src/prove/checker/trace.ts';
import type { Processor } from './processor.ts';

/** What a run really went through: a verdict without it proves nothing. */
export interface Exposure {
  readonly sources: number;
  /** Transactions with something visible. */
  readonly transactions: number;
  readonly abortedRecords: number;
  readonly abortedTransactions: number;
  /** Times partitions changed hands, as the processes counted it. */
  readonly rebalances: number;
  readonly unknownCommits: number;
}

export function exposureOf({ sources, visible, uncommitted }: Evidence, processors: readonly Processor[]): Exposure {
  const aborted = abortedRecords(visible, uncommitted);
  const counted = (name: string, labels?: Readonly<Record<string, string>>): number =>
    processors.reduce((sum, { lastMetrics }) => sum + (lastMetrics?.sum(name, labels) ?? 0), 0);
  return {
    sources: sources.length,
    transactions: new Set(visible.map(transactionOf)).size,
    abortedRecords: aborted.length,
    abortedTransactions: new Set(aborted.map(transactionOf)).size,
    rebalances: counted('millrace_rebalances_total'),
    unknownCommits: counted('millrace_producer_recycles_total', { reason: 'unknown-commit' }),
  };
}
