import { expect } from 'vitest';

import type { EffectFailure } from '../../src/effects/adapter.ts';

/** What a promise was rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<EffectFailure> {
  return promise.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error as EffectFailure,
  );
}

/** For `toMatchObject`: a text that contains this. */
export function saying(text: string): unknown {
  return expect.stringContaining(text);
}
