import { type InputRecord, partitionId, type RawHeaders } from '../pipeline/ports.ts';

export interface Partition {
  readonly topic: string;
  readonly partition: number;
}

/** A header as a reader finds it: order and duplicates matter, hence no map. A null value arrives as an empty buffer. */
export type Header = readonly [name: string, value: Buffer];

/** A record as an independent reader finds it in a partition's log. */
export interface LogRecord extends Partition {
  readonly offset: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly Header[];
}

export function toLogRecord({ topic, partition, offset, timestamp, key, value, headers }: InputRecord): LogRecord {
  return { topic, partition, offset, timestamp, key, value, headers: flatHeaders(headers) };
}

export const flatHeaders = (headers: RawHeaders | undefined): Header[] =>
  headers?.flatMap(Object.entries<Buffer>) ?? [];

/** `topic/partition/offset`: a record's coordinates, in maps and in messages. */
export const recordId = (record: Partition & { readonly offset: number }): string =>
  `${partitionId(record)}/${record.offset}`;

/** The text of the first header of that name. */
export const headerText = (record: Pick<LogRecord, 'headers'>, name: string): string | undefined =>
  record.headers.find(([found]) => found === name)?.[1].toString();

export function partitionsOf(topic: string, count: number): Partition[] {
  return Array.from({ length: count }, (_, partition) => ({ topic, partition }));
}

export function groupBy<T>(values: Iterable<T>, key: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(key(value));
    if (group) group.push(value);
    else groups.set(key(value), [value]);
  }
  return groups;
}
