import { partitionId, recordId, type LogRecord } from '../log-record.ts';
import type { Evidence, Expectation, Violation } from './evidence.ts';
import type { Trace } from './trace.ts';

/**
 * I1: each source that is due has exactly its outputs, or exactly one dead letter, or nothing where it is filtered.
 * I4: the committed offset parts the settled sources from the others. A source that is not due (its partition is
 * held) may have nothing, but then the offset must not have passed it.
 */
export function checkSettlement(evidence: Evidence, tracesOf: ReadonlyMap<string, Trace[]>): Violation[] {
  const violations = unknownSources(evidence.sources, tracesOf);
  for (const source of evidence.sources) {
    const at = recordId(source);
    const input = partitionId(source);
    const traces = tracesOf.get(at) ?? [];
    const fault = settlementFault(evidence.expect(source), traces);
    const isDue = source.offset < (evidence.heldAt.get(input) ?? Infinity);
    const committed = evidence.committed.get(input) ?? 0;

    if (fault !== null && (isDue || traces.length > 0)) violations.push({ invariant: 'I1', at, found: fault });
    if (fault !== null && !isDue && traces.length === 0 && source.offset < committed)
      violations.push({ invariant: 'I4', at, found: `is not settled, yet offset ${committed} is committed` });
    const isSettled = traces.length > 0 || (fault === null && isDue);
    if (isSettled && source.offset >= committed)
      violations.push({ invariant: 'I4', at, found: `is settled, yet only offset ${committed} is committed` });
  }
  return violations;
}

function unknownSources(sources: readonly LogRecord[], tracesOf: ReadonlyMap<string, Trace[]>): Violation[] {
  const known = new Set(sources.map(recordId));
  return [...tracesOf]
    .filter(([source]) => !known.has(source))
    .map(([source]) => ({ invariant: 'I1', at: source, found: 'has visible records, but is not in the input' }));
}

function settlementFault(expected: Expectation, traces: readonly Trace[]): string | null {
  const deadLetters = traces.filter((trace) => trace.isDeadLetter).length;
  const outputs = traces.filter((trace) => !trace.isDeadLetter);
  const expectedOutputs = expected.kind === 'outputs' ? expected.outputs : [];
  const faults: string[] = [];

  const expectedDeadLetters = expected.kind === 'dead-letter' ? 1 : 0;
  if (deadLetters !== expectedDeadLetters)
    faults.push(`has ${deadLetters} dead letters instead of ${expectedDeadLetters}`);
  for (const [index, { topic }] of expectedOutputs.entries()) {
    const found = outputs.filter((output) => output.index === index);
    if (found.length !== 1) faults.push(`has output ${index} ${found.length} times`);
    for (const { record } of found)
      if (record.topic !== topic) faults.push(`has output ${index} in ${record.topic} instead of ${topic}`);
  }
  for (const { index, record } of outputs)
    if (index >= expectedOutputs.length) faults.push(`has an output ${index} too many, at ${recordId(record)}`);
  return faults.length === 0 ? null : `(${expected.kind}) ${faults.join(', ')}`;
}
