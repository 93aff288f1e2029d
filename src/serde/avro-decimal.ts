import avro, { type Schema } from 'avsc';

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d+))?$/;

interface DecimalSchema {
  type?: unknown;
  precision?: unknown;
  scale?: unknown;
  size?: unknown;
}

/** Avro's `decimal` as text with exactly `scale` fraction digits (`'12.50'`): a number would round it. */
export class DecimalType extends avro.types.LogicalType {
  readonly #precision: number;
  readonly #scale: number;
  /** Bytes of a `fixed`; null for `bytes`, which take as few as the value needs. */
  readonly #size: number | null;

  constructor(schema: Schema, options: unknown) {
    super(schema, options);
    // Where one of these throws, avsc reads the underlying type as it is, as Avro's specification asks.
    const { type, precision, scale = 0, size } = schema as DecimalSchema;
    if (type !== 'bytes' && type !== 'fixed') throw new Error('a decimal is stored in bytes or fixed');
    if (!Number.isInteger(precision) || !Number.isInteger(scale))
      throw new Error('a decimal needs precision and scale');
    this.#precision = Number(precision);
    this.#scale = Number(scale);
    this.#size = typeof size === 'number' ? size : null;
    if (this.#precision < 1 || this.#scale < 0 || this.#scale > this.#precision) {
      throw new Error('the scale of a decimal lies between 0 and its precision');
    }
  }

  protected override _fromValue(bytes: Buffer): string {
    const unscaled = bytes.length === 0 ? 0n : BigInt.asIntN(8 * bytes.length, BigInt(`0x${bytes.toString('hex')}`));
    const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(this.#scale + 1, '0');
    const point = digits.length - this.#scale;
    const text = this.#scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
    return unscaled < 0n ? `-${text}` : text;
  }

  /** Undefined says that the value does not fit: avsc then reports it with its path. */
  protected override _toValue(value: unknown): Buffer | undefined {
    const match = typeof value === 'string' ? DECIMAL.exec(value) : null;
    if (match === null) return undefined;
    const [, sign = '', whole = '', fraction = ''] = match;
    if (fraction.length > this.#scale) return undefined;
    const unscaled = BigInt(whole + fraction.padEnd(this.#scale, '0'));
    if (unscaled.toString().length > this.#precision) return undefined;
    return twosComplement(sign === '-' ? -unscaled : unscaled, this.#size);
  }
}

function twosComplement(value: bigint, size: number | null): Buffer | undefined {
  let length = size ?? 1;
  while (BigInt.asIntN(8 * length, value) !== value) {
    if (size !== null) return undefined;
    length += 1;
  }
  return Buffer.from(
    BigInt.asUintN(8 * length, value)
      .toString(16)
      .padStart(2 * length, '0'),
    'hex',
  );
}
