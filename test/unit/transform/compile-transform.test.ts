import { describe, expect, it, vi } from 'vitest';
import { PoisonRecord } from '../../../src/index.ts';
import { DecodeError, EncodeError } from '../../../src/transform/errors.ts';
import { compiled, errorOf, outputsOf, record } from './compiled.ts';

describe('what a transform sees', () => {
  it('decodes key, value, headers and timestamp', () => {
    const seen = vi.fn();
    const headers = [{ trace: Buffer.from('t1') }];
    const run = compiled(({ key, value, headers: all, timestamp }) => seen(key, value, all.text('trace'), timestamp));
    outputsOf(run(record({ headers }), 1));
    expect(seen).toHaveBeenCalledWith('SFO', { delay: 17 }, 't1', 1_700_000_000_000);
  });

  it('tells a missing key from an empty one, and a tombstone from an empty value', () => {
    const seen = vi.fn();
    const run = compiled(({ key, value }) => seen(key, value), { value: 'string' });
    outputsOf(run(record({ key: null, value: null }), 1));
    outputsOf(run(record({ key: Buffer.alloc(0), value: Buffer.alloc(0) }), 1));
    expect(seen.mock.calls).toEqual([
      [null, null],
      ['', ''],
    ]);
  });

  it('gives the source, the try and the event ids, also when the context is taken apart', () => {
    const seen = vi.fn();
    const run = compiled((_, { source, attempt, eventId, timestamp }) =>
      seen(source, attempt, eventId(0), eventId(7), timestamp),
    );
    outputsOf(run(record(), 2));
    const source = { topic: 'flights', partition: 3, offset: 42 };
    expect(seen).toHaveBeenCalledWith(source, 2, 'flights/3/42/0', 'flights/3/42/7', 1_700_000_000_000);
  });

  it('hands over the logger of the pipeline', () => {
    const info = vi.fn();
    const logger = { debug: info, info, warn: info, error: info };
    outputsOf(compiled((_, { logger: given }) => given.info({ seat: 1 }, 'seen'), { logger })(record(), 1));
    expect(info).toHaveBeenCalledWith({ seat: 1 }, 'seen');
  });

  it('keeps the raw record out of a spread and of what is printed', () => {
    let spread: object = {};
    const run = compiled((input) => {
      spread = { ...input };
    });
    outputsOf(run(record(), 1));
    expect(spread).toEqual({ key: 'SFO', value: { delay: 17 }, timestamp: 1_700_000_000_000 });
  });
});

describe('how a transform runs', () => {
  it('makes no promise where the transform makes none', () => {
    expect(compiled(({ value }) => ({ value }))(record(), 1)).toBeInstanceOf(Array);
  });

  it('awaits a promise, and a thenable that is none', async () => {
    const later = compiled(async ({ value }) => ({ value }));
    const thenable = compiled(({ value }) => ({ then: (done: (result: unknown) => void) => done({ value }) }));
    await expect(later(record(), 1)).resolves.toHaveLength(1);
    await expect(thenable(record(), 1)).resolves.toHaveLength(1);
  });

  it('passes on what it throws or rejects with', async () => {
    const error = new Error('no');
    const throws = compiled(() => {
      throw error;
    });
    expect(errorOf(() => throws(record(), 1))).toBe(error);
    await expect(compiled(() => Promise.reject(error))(record(), 1)).rejects.toBe(error);
    await expect(compiled(() => Promise.reject(new PoisonRecord('no')))(record(), 1)).rejects.toThrow(PoisonRecord);
  });

  it.each([null, undefined, 'a text', 42, { code: 7 }])('makes an Error of a thrown %j', async (thrown) => {
    const throws = compiled(() => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw thrown;
    });
    const error = errorOf(() => throws(record(), 1));
    expect(error).toMatchObject({ name: 'ThrownValue', cause: thrown });
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    await expect(compiled(() => Promise.reject(thrown))(record(), 1)).rejects.toMatchObject({ cause: thrown });
  });

  it('refuses bytes that are not what the configuration says, before the transform runs', () => {
    const transform = vi.fn();
    const run = compiled(transform);
    const garbage = errorOf(() => run(record({ value: Buffer.from('{"delay":') }), 1));
    expect(garbage).toBeInstanceOf(DecodeError);
    expect(garbage.message).toMatch(/^the record's value: not JSON: /);
    expect(errorOf(() => run(record({ key: Buffer.from([0xff]) }), 1)).message).toBe(
      "the record's key: the bytes are not valid UTF-8",
    );
    expect(transform).not.toHaveBeenCalled();
  });

  it('names part, output and reason where a value can not be encoded', () => {
    const error = errorOf(() => compiled(({ value }) => ({ key: 7, value }))(record(), 1));
    expect(error).toBeInstanceOf(EncodeError);
    expect(error.message).toBe(
      'key of output 0 to out, written as string (outputs.out.key): expected a string, found number 7',
    );
  });

  it('passes the very bytes through where both sides are bytes', () => {
    const input = record({ value: Buffer.from([0x00, 0xff]) });
    const [output] = outputsOf(compiled(({ value }) => ({ value }), { key: 'bytes', value: 'bytes' })(input, 1));
    expect(output?.value).toBe(input.value);
    expect(output?.key).toBe(input.key);
  });
});
