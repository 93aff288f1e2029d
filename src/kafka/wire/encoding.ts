/** The types of Kafka's protocol, as versions without tagged fields have them. */

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

export function string(text: string): Buffer {
  return Buffer.concat([int16(Buffer.byteLength(text)), Buffer.from(text)]);
}

export function bytes(content: Buffer): Buffer {
  return Buffer.concat([int32(content.length), content]);
}

export function array(entries: readonly Buffer[]): Buffer {
  return Buffer.concat([int32(entries.length), ...entries]);
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
