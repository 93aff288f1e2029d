import { describe, expect, it } from 'vitest';
import { PoisonRecord } from '../../../src/index.ts';
import {
  DecodeError,
  EncodeError,
  errorType,
  InvalidOutputError,
  isRetriable,
  toError,
} from '../../../src/transform/errors.ts';

class PaymentDeclined extends Error {}

function withName(name: unknown): Error {
  return Object.assign(new Error('no'), { name });
}

describe('which failures are worth another try', () => {
  it('retries what the transform throws', () => {
    expect([new Error('no'), new TypeError('no'), toError('text')].map(isRetriable)).toEqual([true, true, true]);
  });

  it('does not retry a record that is at fault itself', () => {
    const hopeless = [
      new DecodeError('no'),
      new EncodeError('no'),
      new InvalidOutputError('no'),
      new PoisonRecord('no'),
    ];
    expect(hopeless.map(isRetriable)).toEqual([false, false, false, false]);
  });

  it('knows a PoisonRecord of another copy of this package', () => {
    const brand = Symbol.for('millrace.PoisonRecord');
    expect(isRetriable(Object.assign(new Error('no'), { [brand]: true }))).toBe(false);
  });
});

describe('the type of an error', () => {
  it.each([
    [new TypeError('no'), 'TypeError'],
    [new PoisonRecord('no'), 'PoisonRecord'],
    [new PaymentDeclined('no'), 'PaymentDeclined'],
    [withName('HTTP 500: "/a?b=c"'), 'HTTP_500____a_b_c_'],
    [withName('x'.repeat(1000)), 'x'.repeat(64)],
    [withName(''), 'Error'],
    [withName(7), '7'],
  ])('of %s is %s', (error, type) => {
    expect(errorType(error)).toBe(type);
  });
});

describe('PoisonRecord', () => {
  it('carries its reason and its cause', () => {
    const cause = new Error('why');
    expect(new PoisonRecord('reason', { cause })).toMatchObject({ name: 'PoisonRecord', message: 'reason', cause });
    expect(Object.hasOwn(new PoisonRecord('reason'), 'cause')).toBe(false);
  });
});

describe('toError', () => {
  it('leaves errors alone', () => {
    const error = new PaymentDeclined('no');
    expect(toError(error)).toBe(error);
  });

  it('says what was thrown instead', () => {
    expect(toError('no seats').message).toBe('no seats (thrown as it is, not as an Error)');
    expect(toError({ code: 7 }).message).toBe('{ code: 7 } (thrown as it is, not as an Error)');
  });
});
