import type { RawHeaders } from '../pipeline/ports.ts';

/** Strings are written in UTF-8. */
export type HeaderValue = string | Buffer | Uint8Array;

/** Headers as a transform may give them: an object, `[name, value]` pairs (a Map too), or a record's own. */
export type HeadersInit =
  RecordHeaders | Readonly<Record<string, HeaderValue>> | Iterable<readonly [string, HeaderValue]>;

/**
 * A record's headers: ordered, one name may occur several times, never changed in place. Where one value is asked for, the last one
 * counts, as in Kafka's own clients. A header without a value is read as an empty Buffer, since the client gives it so.
 */
export class RecordHeaders implements Iterable<readonly [name: string, value: Buffer]> {
  static readonly empty = new RecordHeaders([]);

  readonly #raw: RawHeaders;

  private constructor(raw: RawHeaders) {
    this.#raw = raw;
  }

  /** Throws a `TypeError` that names the header when a value is neither text nor bytes. */
  static from(init: HeadersInit): RecordHeaders {
    if (init instanceof RecordHeaders) return init;
    const given: unknown = init;
    if (typeof given !== 'object' || given === null) {
      throw new TypeError(
        `headers must be an object or [name, value] pairs, found ${given === null ? 'null' : typeof given}`,
      );
    }
    const pairs = Symbol.iterator in init ? Array.from(init, checkPair) : Object.entries(init);
    return new RecordHeaders(pairs.map(([name, value]) => rawHeader(name, value)));
  }

  /** Wraps headers as the client delivers them, without a copy. */
  static fromRaw(raw: RawHeaders | undefined): RecordHeaders {
    return raw === undefined || raw.length === 0 ? RecordHeaders.empty : new RecordHeaders(raw);
  }

  /** The shape that the client takes. */
  toRaw(): RawHeaders {
    return this.#raw;
  }

  get size(): number {
    return this.#raw.length;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** The last value of that name. */
  get(name: string): Buffer | undefined {
    return lastValue(this.#raw, name);
  }

  /** Every value of that name, in order. */
  getAll(name: string): Buffer[] {
    return [...this].filter(([other]) => other === name).map(([, value]) => value);
  }

  /** The last value of that name as text. */
  text(name: string): string | undefined {
    return this.get(name)?.toString('utf8');
  }

  /** These headers with exactly one of that name, at the end. */
  with(name: string, value: HeaderValue): RecordHeaders {
    return this.without(name).append(name, value);
  }

  /** These headers with one more of that name. */
  append(name: string, value: HeaderValue): RecordHeaders {
    return new RecordHeaders([...this.#raw, rawHeader(name, value)]);
  }

  /** These headers without any of that name. */
  without(name: string): RecordHeaders {
    return new RecordHeaders(withoutName(this.#raw, name));
  }

  entries(): IterableIterator<[name: string, value: Buffer]> {
    return this[Symbol.iterator]();
  }

  *[Symbol.iterator](): IterableIterator<[name: string, value: Buffer]> {
    for (const header of this.#raw) yield* Object.entries(header);
  }
}

/** The last value of a name in headers as the client has them. */
export function lastValue(raw: RawHeaders, name: string): Buffer | undefined {
  for (let index = raw.length - 1; index >= 0; index -= 1) {
    const header = raw[index];
    if (header !== undefined && Object.hasOwn(header, name)) return header[name];
  }
  return undefined;
}

export function withoutName(raw: RawHeaders, name: string): RawHeaders {
  return raw.filter((header) => !Object.hasOwn(header, name));
}

function checkPair(pair: unknown): readonly [string, HeaderValue] {
  if (!Array.isArray(pair) || pair.length !== 2 || typeof pair[0] !== 'string') {
    throw new TypeError('headers must be an object or [name, value] pairs');
  }
  return [pair[0], pair[1] as HeaderValue];
}

function rawHeader(name: string, value: HeaderValue): Readonly<Record<string, Buffer>> {
  return { [name]: toBuffer(name, value) };
}

function toBuffer(name: string, value: unknown): Buffer {
  if (typeof value === 'string') return Buffer.from(value, 'utf8');
  if (Buffer.isBuffer(value)) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const found = value === null ? 'null, which the Kafka client can not write: use an empty string' : typeof value;
  throw new TypeError(`header "${name}" must be a string, a Buffer or a Uint8Array, found ${found}`);
}
