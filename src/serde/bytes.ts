import type { Serde } from '../pipeline/ports.ts';
import { found } from './found.ts';

/** Passes the very Buffer through that was read. */
export const bytesSerde: Serde = {
  name: 'bytes',
  decode: (bytes) => bytes,
  encode(value) {
    if (value === null || Buffer.isBuffer(value)) return value;
    if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    throw new Error(`expected a Buffer or a Uint8Array, found ${found(value)}`);
  },
};
