import { partitionId } from '../../pipeline/ports.ts';
import { groupBy, recordId } from '../log-record.ts';
import type { Violation } from './evidence.ts';
import type { Trace } from './trace.ts';

/**
 * I3: what one key got from one input partition stands in the order of the sources.
 * Repeats are left to I1: only the first of each is looked at.
 */
export function checkOrder(traces: readonly Trace[]): Violation[] {
  const violations: Violation[] = [];
  const keyed = traces.filter(({ record }) => record.key !== null);
  const lane = ({ record, sourcePartition }: Trace): string =>
    `${partitionId(record)} ${sourcePartition} ${record.key?.toString('hex')}`;
  for (const inOrder of groupBy(keyed, lane).values()) {
    const seen = new Set<string>();
    let previous: Trace | undefined;
    for (const trace of inOrder) {
      const event = `${trace.source}/${trace.index}`;
      if (seen.has(event)) continue;
      seen.add(event);
      if (previous && isAfter(previous, trace))
        violations.push({
          invariant: 'I3',
          at: recordId(trace.record),
          found: `comes from ${event}, behind ${previous.source}/${previous.index} of the same key`,
        });
      previous = trace;
    }
  }
  return violations;
}

const isAfter = (a: Trace, b: Trace): boolean =>
  a.sourceOffset > b.sourceOffset || (a.sourceOffset === b.sourceOffset && a.index > b.index);
