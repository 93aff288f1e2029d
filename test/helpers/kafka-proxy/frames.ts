/** Cuts a stream of bytes into Kafka's frames: each is the length of the rest, in four bytes, and the rest. */
export class Frames {
  #chunks: Buffer[] = [];
  #length = 0;

  /** The frames that the bytes complete, their lengths in front. */
  *take(bytes: Buffer): Generator<Buffer> {
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    for (;;) {
      if (this.#length < 4) return;
      const all = this.#joined();
      const end = 4 + all.readInt32BE();
      if (all.length < end) return;
      this.#chunks = [all.subarray(end)];
      this.#length -= end;
      yield all.subarray(0, end);
    }
  }

  #joined(): Buffer {
    const [first] = this.#chunks;
    const all = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}
