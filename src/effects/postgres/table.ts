import { escapeIdentifier } from 'pg';

import { EffectFailure } from '../adapter.ts';
import type { Session } from './session.ts';

/** `table` or `schema.table`, quoted: what is between is never read as SQL. */
export function quoteTable(name: string): string {
  return name.split('.').map(escapeIdentifier).join('.');
}

/** Those that ON CONFLICT can use: not deferred, not over expressions, not over a part of the rows. */
const UNIQUE_INDEXES = `
  SELECT array_agg(a.attname::text) AS columns
  FROM pg_index i
  CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
  WHERE i.indrelid = to_regclass($1) AND k.place <= i.indnkeyatts
    AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
  GROUP BY i.indexrelid`;

/**
 * Rejects unless the table has a unique constraint (or index) on exactly these columns, without which a repeat would
 * not be seen.
 *
 * @param remedy What the user can do, as the end of a sentence.
 */
export async function checkUnique(
  session: Session,
  table: string,
  columns: readonly string[],
  remedy: string,
): Promise<void> {
  const quoted = quoteTable(table);
  const [found, indexes] = await session.send([
    { text: 'SELECT to_regclass($1) IS NOT NULL AS found', values: [quoted] },
    { text: UNIQUE_INDEXES, values: [quoted] },
  ]);
  const [{ found: exists } = { found: false }] = found?.rows as { found: boolean }[];
  if (!exists)
    throw new EffectFailure('denied', `there is no table ${quoted} (or its schema is not to be used): ${remedy}`);
  const wanted = columns.toSorted().join();
  const rows = indexes?.rows as { columns: string[] }[];
  if (rows.some((row) => row.columns.toSorted().join() === wanted)) return;
  throw new EffectFailure(
    'denied',
    `the table ${quoted} has no unique constraint on exactly (${columns.join(', ')}), so repeats would be applied again: ${remedy}`,
  );
}
