import { groupBy, recordId, type LogRecord } from '../log-record.ts';
import type { Evidence, Violation } from './evidence.ts';
import { transactionOf, type Trace } from './trace.ts';

/** I2: no transaction is torn. */
export function checkTransactions(evidence: Evidence, tracesOf: ReadonlyMap<string, Trace[]>): Violation[] {
  return [...mixedSources(tracesOf), ...brokenRuns(tracesOf), ...halfVisible(evidence)];
}

function mixedSources(tracesOf: ReadonlyMap<string, Trace[]>): Violation[] {
  const violations: Violation[] = [];
  for (const [source, traces] of tracesOf) {
    const transactions = transactionsOf(traces);
    if (transactions.length > 1)
      violations.push({ invariant: 'I2', at: source, found: `is visible from ${transactions.join(' and ')}` });
  }
  return violations;
}

/** A transaction moves a partition from one offset to another: its sources in a partition are one unbroken run. */
function brokenRuns(tracesOf: ReadonlyMap<string, Trace[]>): Violation[] {
  const violations: Violation[] = [];
  const traces = [...tracesOf.values()]
    .filter((of) => transactionsOf(of).length === 1)
    .map(([first]) => first as Trace);
  for (const run of groupBy(traces, (trace) => trace.sourcePartition).values()) {
    const ended = new Set<string>();
    let current: string | undefined;
    for (const { transaction, source } of run.sort((a, b) => a.sourceOffset - b.sourceOffset)) {
      if (transaction === current) continue;
      if (ended.has(transaction))
        violations.push({ invariant: 'I2', at: source, found: `is from ${transaction}, after sources of ${current}` });
      if (current !== undefined) ended.add(current);
      current = transaction;
    }
  }
  return violations;
}

/** A transaction of which one record was aborted must not have another that is visible. */
function halfVisible({ visible, uncommitted }: Evidence): Violation[] {
  const visibleIn = new Map(visible.map((record) => [transactionOf(record), record]));
  return abortedRecords(visible, uncommitted).flatMap((aborted): Violation[] => {
    const transaction = transactionOf(aborted);
    const torn = transaction === undefined ? undefined : visibleIn.get(transaction);
    if (!torn) return [];
    const found = `was aborted with ${transaction}, of which ${recordId(torn)} is visible`;
    return [{ invariant: 'I2', at: recordId(aborted), found }];
  });
}

/** What the `read_uncommitted` reader saw and nobody else ever should. */
export function abortedRecords(visible: readonly LogRecord[], uncommitted: readonly LogRecord[]): LogRecord[] {
  const committed = new Set(visible.map(recordId));
  return uncommitted.filter((record) => !committed.has(recordId(record)));
}

const transactionsOf = (traces: readonly Trace[]): string[] => [...new Set(traces.map((trace) => trace.transaction))];
