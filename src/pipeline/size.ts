import type { OutputRecord } from './ports.ts';

/** Most that a record's own fields (length, timestamp delta, …) take: librdkafka's RD_KAFKAP_MESSAGE_V2_MAX_OVERHEAD. */
const RECORD_OVERHEAD = 36;
/** Most that the lengths of a header's name and value take. */
const HEADER_OVERHEAD = 10;

const EVENT_ID_LENGTH = 'event-id'.length;

/** At least as many bytes as the client counts when it compares a record with `message.max.bytes`. */
export function wireSize(record: OutputRecord): number {
  let size = RECORD_OVERHEAD + (record.key?.length ?? 0) + (record.value?.length ?? 0);
  if (record.eventId !== undefined) size += HEADER_OVERHEAD + EVENT_ID_LENGTH + record.eventId.length * 3;
  if (record.headers) {
    for (const header of record.headers) {
      for (const name in header) {
        // A name is UTF-8 of at most three bytes a UTF-16 unit.
        size += HEADER_OVERHEAD + name.length * 3 + (header[name]?.length ?? 0);
      }
    }
  }
  return size;
}
