const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text of UTF-8 bytes. Invalid bytes are an error: replacing them by U+FFFD would alter the record without a word. */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new Error('the bytes are not valid UTF-8', { cause });
  }
}
