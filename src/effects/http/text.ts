import { EffectFailure } from '../adapter.ts';
import { jsonText } from '../json-text.ts';
import type { Reference } from '../reference.ts';

export function base64(bytes: Buffer): string {
  return bytes.toString('base64');
}

/** A value within a text: a URL, a header. A hole there would mean something else, so what a record lacks makes it poison. */
export function textOf(value: unknown, reference: Reference): string {
  if (value === undefined || value === null) {
    throw new EffectFailure('poison', `the record has nothing at ${reference.text}, which the request needs`);
  }
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  return jsonText(value, base64);
}
