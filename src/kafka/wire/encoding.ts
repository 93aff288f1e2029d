/** The types of Kafka's protocol, as versions without tagged fields have them; those with such fields are the compact ones. */

export const int8 = (value: number): Buffer => Buffer.from([value]);

export function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeInt16BE(value);
  return buffer;
}

export function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

export function int64(value: bigint): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64BE(value);
  return buffer;
}

export function string(text: string): Buffer {
  return Buffer.concat([int16(Buffer.byteLength(text)), Buffer.from(text)]);
}

export function bytes(content: Buffer): Buffer {
  return Buffer.concat([int32(content.length), content]);
}

export function array(entries: readonly Buffer[]): Buffer {
  return Buffer.concat([int32(entries.length), ...entries]);
}

export const boolean = (value: boolean): Buffer => int8(value ? 1 : 0);

export const NO_TAGS = int8(0);

export const NO_UUID = Buffer.alloc(16);

export const compactString = (text: string): Buffer =>
  Buffer.concat([compactLength(Buffer.byteLength(text)), Buffer.from(text)]);

export const compactArray = (entries: readonly Buffer[]): Buffer =>
  Buffer.concat([compactLength(entries.length), ...entries]);

/** One too high, for 0 stands for null; in groups of seven bits, the lowest first. */
function compactLength(length: number): Buffer {
  const groups: number[] = [];
  for (let rest = length + 1; rest > 0; rest >>>= 7) groups.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  return Buffer.from(groups);
}

/** Takes a response apart, front to back. Throws a RangeError where it ends too early. */
export class Reader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  int8(): number {
    return this.#buffer.readInt8((this.#at += 1) - 1);
  }

  int16(): number {
    return this.#buffer.readInt16BE((this.#at += 2) - 2);
  }

  int32(): number {
    return this.#buffer.readInt32BE((this.#at += 4) - 4);
  }

  int64(): bigint {
    return this.#buffer.readBigInt64BE((this.#at += 8) - 8);
  }

  /** -1 for null. */
  compactLength(): number {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const group = this.int8();
      length |= (group & 0x7f) << shift;
      if (group >= 0) return length - 1;
    }
  }

  compactString(): string | null {
    const length = this.compactLength();
    return length < 0 ? null : this.#take(length).toString('utf8');
  }

  compactArray<T>(entry: () => T): T[] {
    return Array.from({ length: Math.max(0, this.compactLength()) }, entry);
  }

  /** As Kafka writes them; null where there is none. */
  uuid(): string | null {
    const bytes = this.#take(NO_UUID.length);
    return bytes.equals(NO_UUID) ? null : bytes.toString('base64url');
  }

  /** Of which none is known here that would be answered to what is asked. */
  noTags(): void {
    if (this.int8() !== 0) throw new RangeError('the response has tagged fields');
  }

  /** Null as well. */
  string(): string | null {
    const length = this.int16();
    return length < 0 ? null : this.#take(length).toString('utf8');
  }

  bytes(): Buffer {
    return this.#take(Math.max(0, this.int32()));
  }

  array<T>(entry: () => T): T[] {
    return Array.from({ length: Math.max(0, this.int32()) }, entry);
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#buffer.length) throw new RangeError('the response ends too early');
    return this.#buffer.subarray(this.#at, (this.#at += length));
  }
}
