import type { InputRecord, Serde } from '../pipeline/ports.ts';
import { DecodeError, toError } from '../transform/errors.ts';
import { RecordHeaders } from '../transform/record-headers.ts';
import type { EffectRecord } from './adapter.ts';
import type { EventIdOf } from './event-id.ts';

/** How often a record was tried. */
export interface Tries {
  readonly attempt: number;
  readonly redelivered: boolean;
}

/** Decodes a record for an adapter. Throws an error that says what is wrong with the record. */
export type ReadRecord = (record: InputRecord, tries: Tries) => EffectRecord;

export function readRecord(input: { readonly key: Serde; readonly value: Serde }, eventIdOf: EventIdOf): ReadRecord {
  return (record, { attempt, redelivered }) => {
    const { topic, partition, offset, timestamp } = record;
    const key = decode('key', input.key, record);
    const value = decode('value', input.value, record);
    return {
      key,
      value,
      headers: RecordHeaders.fromRaw(record.headers),
      timestamp,
      source: { topic, partition, offset },
      eventId: eventIdOf(record, value),
      attempt,
      redelivered,
    };
  };
}

function decode(part: 'key' | 'value', serde: Serde, record: InputRecord): unknown {
  try {
    return serde.decode(record[part]);
  } catch (thrown) {
    const cause = toError(thrown);
    throw new DecodeError(`the record's ${part}: ${cause.message}`, { cause });
  }
}
