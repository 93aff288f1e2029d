import { randomUUID } from 'node:crypto';

/** No record can contain it. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}(-?[0-9]+)"`, 'g');

/**
 * JSON with what JSON.stringify refuses or spoils: a BigInt in all its digits (from Avro's longs), bytes by `writeBytes`
 * instead of as an array of numbers. What is undefined becomes null.
 */
export function jsonText(value: unknown, writeBytes: (bytes: Buffer) => string): string {
  let hasBigInt = false;
  const text = JSON.stringify(value ?? null, function (this: Readonly<Record<string, unknown>>, key, plain: unknown) {
    // Not `plain`: a Buffer has been through its own toJSON by now.
    const original = this[key];
    if (original instanceof Uint8Array) return writeBytes(Buffer.from(original));
    if (typeof original !== 'bigint') return plain;
    hasBigInt = true;
    return `${MARK}${original}`;
  });
  return hasBigInt ? text.replace(MARKED, '$1') : text;
}
