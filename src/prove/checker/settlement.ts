import { partitionId } from '../../pipeline/ports.ts';
import { recordId, type LogRecord } from '../log-record.ts';
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
  const faults =
    expected.kind === 'undetermined'
      ? incompleteness(deadLetters, outputs)
      : [...wrongDeadLetters(expected, deadLetters), ...wrongOutputs(expected, outputs)];
  return faults.length === 0 ? null : `(${expected.kind}) ${faults.join(', ')}`;
}

function wrongDeadLetters({ kind }: Expectation, found: number): string[] {
  const expected = kind === 'dead-letter' ? 1 : 0;
  return found === expected ? [] : [`has ${found} dead letters instead of ${expected}`];
}

function wrongOutputs(expected: Expectation, outputs: readonly Trace[]): string[] {
  const expectedOutputs = expected.kind === 'outputs' ? expected.outputs : [];
  const faults = wrongCounts(outputs, expectedOutputs.length);
  for (const { index, record } of outputs) {
    const topic = expectedOutputs[index]?.topic;
    if (topic !== undefined && record.topic !== topic)
      faults.push(`has output ${index} in ${record.topic} instead of ${topic}`);
  }
  return faults;
}

/** Nobody knows how many there should be but they themselves: each tells of how many it is one. */
function incompleteness(deadLetters: number, outputs: readonly Trace[]): string[] {
  const [first] = outputs;
  if (!first) return deadLetters > 1 ? [`has ${deadLetters} dead letters`] : [];
  const faults = wrongCounts(outputs, first.count);
  if (deadLetters > 0) faults.push(`has ${deadLetters} dead letters beside outputs`);
  return faults;
}

function wrongCounts(outputs: readonly Trace[], expected: number): string[] {
  const faults: string[] = [];
  for (let index = 0; index < expected; index++) {
    const found = outputs.filter((output) => output.index === index).length;
    if (found !== 1) faults.push(`has output ${index} ${found} times`);
  }
  for (const { index, record } of outputs)
    if (index >= expected) faults.push(`has an output ${index} too many, at ${recordId(record)}`);
  return faults;
}
