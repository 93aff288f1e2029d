import { describe, expect, it } from 'vitest';

import { askAgain } from '../../helpers/ask-again.ts';
import { KafkaError } from '../../helpers/kafka-error.ts';

const NOT_COORDINATOR = 16;
const GROUP_AUTHORIZATION_FAILED = 30;

/** Fails with these codes, one a call, and then answers with how often it was asked. */
function asked(...codes: readonly number[]): () => Promise<number> {
  let calls = 0;
  return async () => {
    const code = codes[calls++];
    if (code !== undefined) throw new KafkaError('refused', code);
    return calls;
  };
}

describe('a question to the cluster', () => {
  it('is asked again while Kafka says that it is too early', async () => {
    expect(await askAgain('an answer', asked(NOT_COORDINATOR, NOT_COORDINATOR))).toBe(3);
  });

  it('ends with any other error at once', async () => {
    await expect(askAgain('an answer', asked(NOT_COORDINATOR, GROUP_AUTHORIZATION_FAILED))).rejects.toThrow('error 30');
  });

  it('ends after its time with what Kafka said last', async () => {
    const never = asked(...Array.from({ length: 100 }, () => NOT_COORDINATOR));
    await expect(askAgain('an answer', never, 100)).rejects.toThrow(/in vain for an answer[^]*error 16/);
  });
});
