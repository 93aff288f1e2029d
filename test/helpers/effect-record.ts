import type { EffectRecord } from '../../src/effects/adapter.ts';
import { RecordHeaders } from '../../src/transform/record-headers.ts';

let offset = 0;

/** A record to apply; what is not given is made up, and its offset is its own. */
export function effectRecord(given: Partial<EffectRecord> = {}): EffectRecord {
  offset += 1;
  return {
    key: `key-${offset}`,
    value: {},
    headers: RecordHeaders.empty,
    timestamp: 1_700_000_000_000,
    source: { topic: 'events', partition: 0, offset },
    eventId: `event-${offset}`,
    attempt: 1,
    redelivered: false,
    ...given,
  };
}
