import { jsonText } from '../json-text.ts';

/** How bytes are written where PostgreSQL reads text. */
export function hexBytes(bytes: Buffer): string {
  return `\\x${bytes.toString('hex')}`;
}

/**
 * A value as a statement's parameter: objects and arrays as JSON, a time as ISO 8601, bytes as they are, anything else
 * as text that PostgreSQL reads as the type which the statement asks for. What a record lacks is NULL: whether that
 * may be is for the table to say, and its NOT NULL makes the record poison.
 */
export function toParameter(value: unknown): string | Buffer | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof Date) return value.toISOString();
  return jsonText(value, hexBytes);
}
