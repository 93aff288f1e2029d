import type { ClientProperties } from '../config/compiled.ts';

/** librdkafka's default for `message.max.bytes`, taken as it is so that the limit can be checked before a record is produced. */
const DEFAULT = 1_000_000;

/** Largest record that a producer with these properties accepts, in bytes with key, value, headers and overhead. */
export function maxRecordBytes(properties: ClientProperties): number {
  return Number(properties['message.max.bytes'] ?? DEFAULT);
}
