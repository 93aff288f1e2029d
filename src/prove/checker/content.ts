import { recordId, type LogRecord } from '../log-record.ts';
import type { Evidence, ExpectedOutput, Violation } from './evidence.ts';
import { isProvenance, type Trace } from './trace.ts';

type Content = Omit<ExpectedOutput, 'topic'>;

/** I9: key, value, headers and timestamp are the promised ones, byte for byte; null is not empty. */
export function checkContent(evidence: Evidence, tracesOf: ReadonlyMap<string, Trace[]>): Violation[] {
  const violations: Violation[] = [];
  for (const source of evidence.sources) {
    const expected = evidence.expect(source);
    for (const { record, index, isDeadLetter } of tracesOf.get(recordId(source)) ?? []) {
      const promised = isDeadLetter ? source : expected.kind === 'outputs' ? expected.outputs[index] : undefined;
      // A record that nobody promised is I1's to report.
      const fault = promised && contentFault({ ...record, headers: withoutProvenance(record) }, promised);
      if (fault)
        violations.push({ invariant: 'I9', at: recordId(record), found: `${fault} (source ${recordId(source)})` });
    }
  }
  return violations;
}

const withoutProvenance = (record: LogRecord): LogRecord['headers'] =>
  record.headers.filter(([name]) => !isProvenance(name));

/** The first field in which two records differ, or null. */
export function contentFault(found: Content, promised: Content): string | null {
  const fields = [
    ['key', show(found.key), show(promised.key)],
    ['value', show(found.value), show(promised.value)],
    ['headers', showHeaders(found), showHeaders(promised)],
    ['timestamp', String(found.timestamp), String(promised.timestamp)],
  ] as const;
  const [difference] = fields.filter(([, a, b]) => a !== b);
  return difference ? `${difference[0]} is ${difference[1]} instead of ${difference[2]}` : null;
}

/** Distinct bytes give distinct text, and null differs from empty; printable bytes stay readable. */
function show(bytes: Buffer | null): string {
  if (bytes === null) return 'null';
  return `"${bytes.toString('latin1').replace(/[^ -~]|["\\]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)}"`;
}

const showHeaders = ({ headers }: Content): string =>
  `[${headers.map(([name, value]) => `${JSON.stringify(name)}: ${show(value)}`).join(', ')}]`;
