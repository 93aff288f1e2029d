import type { QueryResultRow } from 'pg';

import { EffectFailure, type Applied, type EffectRecord } from '../adapter.ts';
import type { EffectEvent, EffectOutcome } from '../define-effect.ts';
import type { Session } from './session.ts';
import type { Write } from './write.ts';

/** The open database transaction as a module has it: what is written through it commits with the batch, or not at all. */
export interface DatabaseTransaction {
  /**
   * `text` has `$1`, `$2`, … for `values`; `Row` is what the caller knows about the result. A failed query fails the
   * transaction: let its error pass.
   */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- as pg's own: SQL has no types here
  query<Row extends QueryResultRow = QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: Row[]; readonly rowCount: number }>;
}

/**
 * A module's effect: writes one record in the open transaction. With processed events it is not called for a repeat;
 * without them its own SQL makes a repeat a no-op, and it may say what it found. An error of the database decides by its
 * SQLSTATE what becomes of the record; any other error that the module throws is passed on as it is.
 *
 * @example
 * const addDelay: PostgresEffect<Delay> = async ({ value }, transaction) => {
 *   await transaction.query('UPDATE totals SET minutes = minutes + $1 WHERE origin = $2', [value.delay, value.origin]);
 * };
 * export default addDelay;
 */
export type PostgresEffect<Value = unknown, Key = unknown> = (
  event: EffectEvent<Value, Key>,
  transaction: DatabaseTransaction,
) => EffectOutcome;

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
      const rows: unknown = result?.rows ?? [];
      // Of whatever type the caller says that they are.
      return { rows: rows as never[], rowCount: result?.rowCount ?? 0 };
    },
  };
  const outcomes: Applied[] = [];
  try {
    for (const record of batch) outcomes.push((await effect(record, transaction)) ?? 'applied');
  } finally {
    open = false;
  }
  if (!session.inTransaction) {
    throw new EffectFailure(
      'denied',
      'the effect ended the database transaction itself: leave COMMIT and ROLLBACK out',
    );
  }
  return outcomes;
}

/** A module alone: its SQL is idempotent by itself. */
export class ModuleWrite implements Write {
  readonly migrations = [];
  readonly #effect: PostgresEffect;

  constructor(effect: PostgresEffect) {
    this.#effect = effect;
  }

  /** What the module needs of the database only its queries tell. */
  async check(session: Session): Promise<void> {
    await session.send([{ text: 'SELECT 1' }]);
  }

  async apply(session: Session, batch: readonly EffectRecord[]): Promise<readonly Applied[]> {
    await session.send([{ text: 'BEGIN' }]);
    const outcomes = await runEffect(this.#effect, session, batch);
    await session.commit();
    return outcomes;
  }
}
