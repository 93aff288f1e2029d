import type { Serde } from '../pipeline/ports.ts';
import { found } from './found.ts';
import { decodeUtf8 } from './utf8.ts';

const LONE_SURROGATE = /\p{Surrogate}/u;

/** UTF-8 text, strict in both directions: what can not be written exactly is refused. */
export const stringSerde: Serde = {
  name: 'string',
  decode: (bytes) => (bytes === null ? null : decodeUtf8(bytes)),
  encode(value) {
    if (value === null) return null;
    if (typeof value !== 'string') throw new Error(`expected a string, found ${found(value)}`);
    if (LONE_SURROGATE.test(value)) throw new Error('the string has half a surrogate pair, which UTF-8 can not hold');
    return Buffer.from(value, 'utf8');
  },
};
