import { checkContent } from './checker/content.ts';
import type { Evidence, Violation } from './checker/evidence.ts';
import { checkOrder } from './checker/order.ts';
import { checkPrefix } from './checker/prefix.ts';
import { checkRest } from './checker/rest.ts';
import { checkSettlement } from './checker/settlement.ts';
import { traceAll } from './checker/trace.ts';
import { checkTransactions } from './checker/transactions.ts';
import { groupBy } from './log-record.ts';

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

/** `I1: 3, I5: 1` */
export function countViolations(violations: readonly Violation[]): string {
  return [...byInvariant(violations)].map(([invariant, of]) => `${invariant}: ${of.length}`).join(', ');
}

const SHOWN_EACH = 8;

/** One line each, of each invariant the first few. */
export function listViolations(violations: readonly Violation[]): string[] {
  return [...byInvariant(violations)].flatMap(([invariant, of]) => [
    ...of.slice(0, SHOWN_EACH).map(({ at, found }) => `${invariant} ${at} ${found}`),
    ...(of.length > SHOWN_EACH ? [`${invariant} … and ${of.length - SHOWN_EACH} more`] : []),
  ]);
}

const byInvariant = (violations: readonly Violation[]) => groupBy(violations, ({ invariant }) => invariant);
