import { describe, expect, it } from 'vitest';

import { Isolation } from '../../../src/pipeline/isolation.ts';
import { Transaction } from '../../../src/pipeline/transaction.ts';
import { completed, output } from './bench.ts';
import { failure } from './scripted-producer.ts';

const LIMITS = { maxRecords: 1_000, maxBytes: 1 << 30 };
const BATCH_BYTES = 262_144;

function transactionOf(...entries: readonly ReturnType<typeof completed>[]): Transaction {
  const transaction = new Transaction(null);
  for (const entry of entries) transaction.add(entry, LIMITS);
  return transaction;
}

const tooLarge = failure('rejected', 10, true);
const invalid = failure('rejected', 87, true);

describe('the record behind a refused transaction', () => {
  it('is unknown while there are several; fewer go into the next', () => {
    const isolation = new Isolation(1_000);
    const several = transactionOf(...Array.from({ length: 80 }, (_, offset) => completed(offset, [output(10)])));
    expect(isolation.rejected(several, tooLarge, BATCH_BYTES)).toBeNull();
    expect(isolation.limit).toBe(10);
  });

  it('is the only one there is', () => {
    const isolation = new Isolation(1_000);
    const culprit = isolation.rejected(transactionOf(completed(7, [output(10)])), tooLarge, BATCH_BYTES);
    expect(culprit).toMatchObject({ offset: 7, action: 'dead-letter' });
  });

  it('is not one whose outputs may have shared a batch that was too large', () => {
    const isolation = new Isolation(1_000);
    const fanOut = transactionOf(completed(7, [output(600), output(600)]));
    expect(isolation.rejected(fanOut, tooLarge, BATCH_BYTES)).toBeNull();
    expect(isolation.rejected(fanOut, invalid, BATCH_BYTES), 'refused for something else').not.toBeNull();
    expect(isolation.rejected(fanOut, tooLarge, 600), 'a batch held one output').toMatchObject({ offset: 7 });
  });

  it('is held where its topic is at fault, or it is a dead letter already', () => {
    const isolation = new Isolation(1_000);
    const denied = failure('rejected', 29);
    expect(isolation.rejected(transactionOf(completed(7, [output()])), denied, BATCH_BYTES)?.action).toBe('hold');
    const letter = { ...completed(7, [output()]), deadLetter: 'Error' };
    expect(isolation.rejected(transactionOf(letter), tooLarge, BATCH_BYTES)?.action).toBe('hold');
  });
});
