import { inspect } from 'node:util';

const MAX_LENGTH = 60;

/** A value as it reads in an error: its type, and the value itself cut to a few words. */
export function found(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  const text = inspect(value, { depth: 0, maxArrayLength: 3, maxStringLength: 40, breakLength: Infinity });
  return `${typeName(value)} ${text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text}`;
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return Buffer.isBuffer(value) ? 'Buffer' : typeof value;
}
