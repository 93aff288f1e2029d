/** No bytes at an address: what `Buffer.alloc(0)` and the client's own empty Buffers lack, which it takes for null. */
const EMPTY = Buffer.from(' ').subarray(0, 0);

/** A key or value in the form in which the client tells null and empty apart. */
export function present(bytes: Buffer | null): Buffer | null {
  return bytes?.length === 0 ? EMPTY : bytes;
}

export function presentHeader(header: Readonly<Record<string, Buffer>>): Readonly<Record<string, Buffer>> {
  for (const name in header) if (header[name]?.length === 0) return { [name]: EMPTY };
  return header;
}
