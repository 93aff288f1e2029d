import { ERROR_HEADER_PREFIX } from '../../dead-letters/error-headers.ts';
import { ATTEMPT_HEADER, SOURCE_HEADER } from '../../pipeline/provenance.ts';
import { recordId, type LogRecord } from '../log-record.ts';
import type { Violation } from './evidence.ts';

/** A written record, traced back to its source and to the transaction that wrote it. */
export interface Trace {
  readonly record: LogRecord;
  /** The source's coordinates, `topic/partition/offset`. */
  readonly source: string;
  readonly sourcePartition: string;
  readonly sourceOffset: number;
  /** Which of its source's records this is, and of how many; a dead letter is the only one. */
  readonly index: number;
  readonly count: number;
  readonly isDeadLetter: boolean;
  /** `instance/producer generation/transaction number`. */
  readonly transaction: string;
}

/** Whether the product puts the header on, to tell where a record comes from. */
export const isProvenance = (name: string): boolean =>
  name === SOURCE_HEADER || name === ATTEMPT_HEADER || name.startsWith(ERROR_HEADER_PREFIX);

/** The transaction that wrote a record, or undefined where the record does not tell. */
export function transactionOf(record: LogRecord): string | undefined {
  return attemptOf(record)?.transaction;
}

function attemptOf(record: LogRecord): Pick<Trace, 'transaction' | 'index' | 'count'> | undefined {
  const [, transaction, index, count] =
    /^([^/]+\/[^/]+\/\d+)\/(\d+)\/(\d+)$/.exec(lastText(record, ATTEMPT_HEADER)) ?? [];
  return transaction === undefined ? undefined : { transaction, index: Number(index), count: Number(count) };
}

/** The coordinates of the record that this one was made from, or undefined where it does not tell. */
export function sourceOf(record: LogRecord): string | undefined {
  return originOf(record)?.source;
}

function originOf(record: LogRecord): Pick<Trace, 'source' | 'sourcePartition' | 'sourceOffset'> | undefined {
  const source = lastText(record, SOURCE_HEADER);
  const [, sourcePartition, offset] = /^([^/]+\/\d+)\/(\d+)$/.exec(source) ?? [];
  return sourcePartition === undefined ? undefined : { source, sourcePartition, sourceOffset: Number(offset) };
}

/** Of several headers the last: a record may have brought one from where it was itself written so. */
const lastText = ({ headers }: LogRecord, name: string): string =>
  headers.findLast(([found]) => found === name)?.[1].toString() ?? '';

/** Traces every record; one that cannot be traced is a violation itself. */
export function traceAll(
  records: readonly LogRecord[],
  deadLetterTopic: string,
): { traces: Trace[]; violations: Violation[] } {
  const traces: Trace[] = [];
  const violations: Violation[] = [];
  for (const record of records) {
    const at = recordId(record);
    const source = originOf(record);
    const attempt = attemptOf(record);
    if (!source) violations.push({ invariant: 'I1', at, found: 'does not name its source record' });
    else if (!attempt) violations.push({ invariant: 'I2', at, found: `has no ${ATTEMPT_HEADER} header` });
    else traces.push({ record, ...source, ...attempt, isDeadLetter: record.topic === deadLetterTopic });
  }
  return { traces, violations };
}
