import { groupBy } from './log-record.ts';
import { checkContent } from './checker/content.ts';
import type { Evidence, Violation } from './checker/evidence.ts';
import { checkOrder } from './checker/order.ts';
import { checkPrefix } from './checker/prefix.ts';
import { checkRest } from './checker/rest.ts';
import { checkSettlement } from './checker/settlement.ts';
import { traceAll } from './checker/trace.ts';
import { checkTransactions } from './checker/transactions.ts';

/** Holds a run's evidence against the invariants I1–I6 and I9. Nothing returned means exactly once. */
export function check(evidence: Evidence): Violation[] {
  const { traces, violations } = traceAll(evidence.visible, evidence.deadLetterTopic);
  const tracesOf = groupBy(traces, (trace) => trace.source);
  return [
    ...violations,
    ...checkSettlement(evidence, tracesOf),
    ...checkTransactions(evidence, tracesOf),
    ...checkOrder(traces),
    ...checkRest(evidence),
    ...checkPrefix(evidence),
    ...checkContent(evidence, tracesOf),
  ];
}

const SHOWN_EACH = 8;

/** Throws with the violations, the first few of each invariant in full. */
export function assertExactlyOnce(evidence: Evidence): void {
  const violations = check(evidence);
  if (violations.length === 0) return;
  const byInvariant = [...groupBy(violations, (violation) => violation.invariant)];
  const counts = byInvariant.map(([invariant, of]) => `${invariant}: ${of.length}`);
  const lines = byInvariant.flatMap(([invariant, of]) => [
    ...of.slice(0, SHOWN_EACH).map(({ at, found }) => `  ${invariant} ${at} ${found}`),
    ...(of.length > SHOWN_EACH ? [`  ${invariant} … and ${of.length - SHOWN_EACH} more`] : []),
  ]);
  throw new Error(`not exactly once (${counts.join(', ')})\n${lines.join('\n')}`);
}
