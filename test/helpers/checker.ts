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

const SHOWN = 25;

/** Throws with the violations, those of the first sources in full. */
export function assertExactlyOnce(evidence: Evidence): void {
  const violations = check(evidence);
  if (violations.length === 0) return;
  const counts = [...groupBy(violations, (violation) => violation.invariant)].map(([id, of]) => `${id}: ${of.length}`);
  const lines = violations.slice(0, SHOWN).map(({ invariant, at, found }) => `  ${invariant} ${at} ${found}`);
  const rest = violations.length > SHOWN ? [`  … and ${violations.length - SHOWN} more`] : [];
  throw new Error(`not exactly once (${counts.join(', ')})\n${[...lines, ...rest].join('\n')}`);
}
