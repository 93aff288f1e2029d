import { check, countViolations, listViolations } from '../../src/prove/checker.ts';
import type { Evidence } from '../../src/prove/checker/evidence.ts';

/** Throws with the violations, the first few of each invariant in full. */
export function assertExactlyOnce(evidence: Evidence): void {
  const violations = check(evidence);
  if (violations.length === 0) return;
  const lines = listViolations(violations).map((line) => `  ${line}`);
  throw new Error(`not exactly once (${countViolations(violations)})\n${lines.join('\n')}`);
}
