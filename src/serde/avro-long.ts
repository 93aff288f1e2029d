import avro from 'avsc';

const MAX_VARINT_BYTES = 10;
/** avsc copies a written long at once, so all share one piece of memory: a Buffer for each length. */
const scratch = Buffer.alloc(MAX_VARINT_BYTES);
const scratchOf = Array.from({ length: MAX_VARINT_BYTES + 1 }, (_, length) => scratch.subarray(0, length));
/** Up to here the zigzag form of a number (twice as large) is a safe integer too. */
const EXACT_ZIGZAG = 2 ** 51;

/**
 * Avro's `long`, exact over its 64 bits: a number as long as a number is exact, a BigInt beyond. avsc's own refuses everything beyond
 * 2^53, so that one large id would dead-letter its record.
 */
export const exactLong = avro.types.LongType.__with(
  {
    fromBuffer: decodeVarint,
    toBuffer: encodeVarint,
    isValid: isLong,
    fromJSON(value: unknown) {
      if (!isLong(value)) throw new Error(`not a long, or a default that JSON can not hold exactly: ${String(value)}`);
      return value;
    },
    toJSON: (value: number | bigint) => value,
    compare: (a: number | bigint, b: number | bigint) => (a < b ? -1 : a > b ? 1 : 0),
  },
  true,
);

function isLong(value: unknown): value is number | bigint {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value;
  return Number.isSafeInteger(value);
}

function decodeVarint(bytes: Buffer): number | bigint {
  if (bytes.length > MAX_VARINT_BYTES) throw new Error('a long of more than 64 bits');
  if (bytes.length <= 7) {
    let zigzag = 0;
    let scale = 1;
    // An index is several times as fast as the Buffer's iterator.
    for (let index = 0; index < bytes.length; index += 1) {
      zigzag += ((bytes[index] ?? 0) & 0x7f) * scale;
      scale *= 128;
    }
    return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
  }
  let zigzag = 0n;
  bytes.forEach((byte, index) => {
    zigzag |= BigInt(byte & 0x7f) << BigInt(7 * index);
  });
  if (BigInt.asUintN(64, zigzag) !== zigzag) throw new Error('a long of more than 64 bits');
  const value = (zigzag >> 1n) ^ -(zigzag & 1n);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function encodeVarint(value: number | bigint): Buffer {
  let length = 0;
  if (typeof value === 'number' && Math.abs(value) < EXACT_ZIGZAG) {
    let zigzag = value < 0 ? -2 * value - 1 : 2 * value;
    for (; zigzag >= 128; zigzag = Math.floor(zigzag / 128)) scratch[length++] = (zigzag % 128) | 0x80;
    scratch[length++] = zigzag;
  } else {
    const long = BigInt(value);
    let zigzag = BigInt.asUintN(64, (long << 1n) ^ (long >> 63n));
    for (; zigzag >= 128n; zigzag >>= 7n) scratch[length++] = Number(zigzag & 0x7fn) | 0x80;
    scratch[length++] = Number(zigzag);
  }
  return scratchOf[length] ?? scratch;
}
