/**
 * An event id as a header's value. What a header can't carry unharmed is percent-encoded, and so is the percent sign,
 * so that two ids never become the same key.
 */
export function idempotencyKey(eventId: string): string {
  return eventId.replace(/[^!-$&-~]+/gu, (text) =>
    Array.from(Buffer.from(text, 'utf8'), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
