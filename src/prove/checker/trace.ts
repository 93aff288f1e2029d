import { headerText, type LogRecord } from '../log-record.ts';
import type { Violation } from './evidence.ts';

const EVENT_ID = 'event-id';
const ATTEMPT = 'millrace-attempt';
export const ERROR_PREFIX = '__millrace.errors.';

/** A written record, traced back to its source and to the transaction that wrote it. */
export interface Trace {
  readonly record: LogRecord;
  /** The source's coordinates, `topic/partition/offset`. */
  readonly source: string;
  readonly sourcePartition: string;
  readonly sourceOffset: number;
  /** Which of its source's outputs this is; 0 for a dead letter. */
  readonly index: number;
  readonly isDeadLetter: boolean;
  /** `instance/producer generation/transaction number`. */
  readonly transaction: string;
}

/** Whether the product itself put the header there. */
export const isProvenance = (name: string): boolean =>
  name === EVENT_ID || name === ATTEMPT || name.startsWith(ERROR_PREFIX);

/** The transaction that wrote a record, or undefined where the record does not tell. */
export function transactionOf(record: LogRecord): string | undefined {
  return /^([^/]+\/[^/]+\/\d+)\/\d+\/\d+$/.exec(headerText(record, ATTEMPT) ?? '')?.[1];
}

function sourceOf(
  record: LogRecord,
  isDeadLetter: boolean,
): readonly [partition: string, offset: number, index: number] | undefined {
  const text = isDeadLetter
    ? ['topic', 'partition', 'offset'].map((name) => headerText(record, ERROR_PREFIX + name) ?? '').join('/') + '/0'
    : (headerText(record, EVENT_ID) ?? '');
  const [, partition, offset, index] = /^([^/]+\/\d+)\/(\d+)\/(\d+)$/.exec(text) ?? [];
  return partition === undefined ? undefined : [partition, Number(offset), Number(index)];
}

/** Traces every record; one that cannot be traced is a violation itself. */
export function traceAll(
  records: readonly LogRecord[],
  deadLetterTopic: string,
): { traces: Trace[]; violations: Violation[] } {
  const traces: Trace[] = [];
  const violations: Violation[] = [];
  for (const record of records) {
    const at = `${record.topic}/${record.partition}/${record.offset}`;
    const isDeadLetter = record.topic === deadLetterTopic;
    const source = sourceOf(record, isDeadLetter);
    const transaction = transactionOf(record);
    if (!source) violations.push({ invariant: 'I1', at, found: 'does not name its source record' });
    else if (transaction === undefined) violations.push({ invariant: 'I2', at, found: `has no ${ATTEMPT} header` });
    else {
      const [sourcePartition, sourceOffset, index] = source;
      traces.push({
        record,
        source: `${sourcePartition}/${sourceOffset}`,
        sourcePartition,
        sourceOffset,
        index,
        isDeadLetter,
        transaction,
      });
    }
  }
  return { traces, violations };
}
