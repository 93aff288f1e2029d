import type { Serde } from '../pipeline/ports.ts';
import { found } from './found.ts';
import { decodeUtf8 } from './utf8.ts';

/**
 * JSON text in UTF-8. The text `null` is refused in both directions: as a value it could not be told from a tombstone.
 */
export const jsonSerde: Serde = {
  name: 'json',

  decode(bytes) {
    if (bytes === null) return null;
    if (bytes.length === 0) throw new Error('not JSON: it is empty, but not null');
    const value = parse(decodeUtf8(bytes));
    if (value === null)
      throw new Error('the JSON text "null" can not be told from a tombstone: read it as bytes or string');
    return value;
  },

  encode(value) {
    if (value === null) return null;
    const text = stringify(value);
    if (text === undefined) throw new Error(`not writable as JSON: ${found(value)}`);
    // What JSON.stringify alters without a word leaves one of these two behind; most values have neither and need no walk.
    if (text.includes('null') || text.includes('{}')) refuseAltered(value, '');
    if (text === 'null')
      throw new Error('toJSON() gave null, which could not be told from a tombstone: return `value: null`');
    return Buffer.from(text, 'utf8');
  },
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`not JSON: ${firstLine(error)}`, { cause: error });
  }
}

function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    refuseAltered(value, '');
    throw new Error(`not writable as JSON: ${firstLine(error)}`, { cause: error });
  }
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '';
}

/** JSON.stringify writes these as `{}`; an Error would lose its message, a Promise its result. */
const WRITTEN_AS_EMPTY = [Map, Set, WeakMap, WeakSet, Promise, RegExp, Error, ArrayBuffer];

/** Throws for the first part of a value that JSON can not hold, with its path. Follows cycles no further than they were seen. */
function refuseAltered(value: unknown, path: string, parents: readonly object[] = []): void {
  const refuse = (what: string): never => {
    throw new Error(`not writable as JSON: ${path === '' ? 'the value' : path} is ${what}`);
  };
  if (typeof value === 'number' && !Number.isFinite(value)) refuse(String(value));
  if (typeof value === 'bigint') refuse(`the BigInt ${value}: write it as a string, or as a number below 2^53`);
  if (typeof value !== 'object' || value === null || parents.includes(value)) return;

  if (value instanceof Date && Number.isNaN(value.getTime())) refuse('an invalid Date');
  if (hasToJson(value)) {
    refuseAltered(value.toJSON(path), path, [...parents, value]);
    return;
  }
  for (const type of WRITTEN_AS_EMPTY) {
    if (value instanceof type) refuse(type === Promise ? 'a Promise: an `await` may be missing' : `a ${type.name}`);
  }

  const within = [...parents, value];
  if (Array.isArray(value)) {
    value.forEach((element: unknown, index) => {
      const place = `${path}[${index}]`;
      if (element === undefined || typeof element === 'function' || typeof element === 'symbol') {
        throw new Error(`not writable as JSON: ${place} is ${found(element)}`);
      }
      refuseAltered(element, place, within);
    });
    return;
  }
  for (const [name, field] of Object.entries(value))
    refuseAltered(field, path === '' ? name : `${path}.${name}`, within);
}

function hasToJson(value: object): value is { toJSON(key: string): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}
