import { EVENT_ID } from '../../transform/event-id.ts';
import { recordId, type LogRecord } from '../log-record.ts';
import type { Evidence, Expectation, ExpectedOutput, Violation } from './evidence.ts';
import { isProvenance, type Trace } from './trace.ts';

type Content = Omit<ExpectedOutput, 'topic'>;

/** I9: key, value, headers and timestamp are the promised ones, byte for byte; null is not empty. */
export function checkContent(evidence: Evidence, tracesOf: ReadonlyMap<string, Trace[]>): Violation[] {
  const violations: Violation[] = [];
  for (const source of evidence.sources) {
    const expected = evidence.expect(source);
    for (const trace of tracesOf.get(recordId(source)) ?? []) {
      const promised = promisedBy(source, expected, trace, evidence.deadLetterFormat === 'json');
      // A record that nobody promised is I1's to report.
      const fault = promised && contentFault(withoutProvenance(trace.record), promised);
      if (fault)
        violations.push({ invariant: 'I9', at: recordId(trace.record), found: `${fault} (source ${trace.source})` });
    }
  }
  return violations;
}

function promisedBy(source: LogRecord, expected: Expectation, trace: Trace, isDocument: boolean): Content | undefined {
  let promised: Content | undefined;
  if (!trace.isDeadLetter) promised = expected.kind === 'outputs' ? expected.outputs[trace.index] : undefined;
  else promised = isDocument ? documentOf(source, trace.record) : source;
  return promised && withEventId(withoutProvenance(promised), `${trace.source}/${trace.index}`);
}

/** The document itself is left out: it tells the time. */
function documentOf({ key, timestamp, headers }: LogRecord, { value }: LogRecord): Content {
  return { key, value, timestamp, headers: headers.filter(([name]) => name === EVENT_ID).slice(-1) };
}

const withoutProvenance = <C extends Content>(content: C): C => ({
  ...content,
  headers: content.headers.filter(([name]) => !isProvenance(name)),
});

function withEventId(content: Content, eventId: string): Content {
  const brought = content.headers.findLast(([name]) => name === EVENT_ID)?.[1];
  if (brought && brought.length > 0) return content;
  return { ...content, headers: [...content.headers, [EVENT_ID, Buffer.from(eventId)]] };
}

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
