import type { QueryResultRow } from 'pg';

import type { Applied, EffectRecord } from '../adapter.ts';
import { EffectFailure } from '../adapter.ts';
import type { Session } from './session.ts';

/** The open database transaction as a module has it: what is written through it commits with the batch, or not at all. */
export interface DatabaseTransaction {
  /** `text` has `$1`, `$2`, … for `values`. A failed query fails the transaction: let its error pass. */
  query<Row extends QueryResultRow = QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: Row[]; readonly rowCount: number }>;
}

/**
 * A module's effect: writes one record in the open transaction. With processed events it is called for a record once
 * in the database's eyes, and its result is not asked for; without them its own SQL makes a repeat a no-op, and it may
 * say that it found one.
 *
 * @example
 * export default async ({ value }, transaction) => {
 *   await transaction.query('UPDATE totals SET minutes = minutes + $1 WHERE origin = $2', [value.delay, value.origin]);
 * };
 */
export type PostgresEffect = (record: EffectRecord, transaction: DatabaseTransaction) => Promise<Applied | undefined | void>;

/** Runs the module for each record in order. What it throws is passed on as it is. */
export async function runEffect(
  effect: PostgresEffect,
  session: Session,
  batch: readonly EffectRecord[],
): Promise<Applied[]> {
  let open = true;
  const transaction: DatabaseTransaction = {
    async query(text, values = []) {
      if (!open) throw new Error('the database transaction has ended: the effect must wait for each of its queries');
      const [result] = await session.send([{ text, values }]);
      return { rows: result?.rows ?? [], rowCount: result?.rowCount ?? 0 };
    },
  };
  const outcomes: Applied[] = [];
  try {
    for (const record of batch) outcomes.push((await effect(record, transaction)) ?? 'applied');
  } finally {
    open = false;
  }
  if (!session.inTransaction) {
    throw new EffectFailure('denied', 'the effect ended the database transaction itself: leave COMMIT and ROLLBACK out');
  }
  return outcomes;
}
