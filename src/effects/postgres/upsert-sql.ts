/** All names quoted already. */
interface Shape {
  readonly table: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
  readonly version: string | null;
}

/**
 * One statement for a whole batch, which comes as a JSON array of `{ gone, row }` in `$1`. `json_populate_record` reads
 * each row as the table's own types. With a version the result has a row for each record, in order: what became of it.
 *
 * Names with a `#` are ours, so that they can't be a column's.
 */
export function upsertSql(shape: Shape): string {
  return shape.version === null ? lastWins(shape) : newestWins({ ...shape, version: shape.version });
}

function lastWins(shape: Shape): string {
  const { table, key, columns } = shape;
  const update = columns.length === 0 ? 'NOTHING' : `UPDATE SET ${assign(columns)}`;
  return `
    WITH ${input(shape, [...key, ...columns])},
    latest AS (
      SELECT DISTINCT ON (${key.join()}) * FROM input ORDER BY ${key.join()}, "#n" DESC
    ),
    removed AS (
      DELETE FROM ${table} AS target USING latest WHERE latest."#gone" AND ${same(key, 'target', 'latest')}
    )
    INSERT INTO ${table} (${[...key, ...columns].join()})
    SELECT ${[...key, ...columns].join()} FROM latest WHERE NOT "#gone"
    ON CONFLICT (${key.join()}) DO ${update}`;
}

/**
 * A record is compared with the newest version before it: the table's (locked, so that it stays) or an earlier
 * record's. Where another instance has inserted a row after this statement began, `held` does not see it but ON
 * CONFLICT does: the row is not written although it was judged to be new, which is told as `raced`.
 */
function newestWins(shape: Shape & { readonly version: string }): string {
  const { table, key, columns, version } = shape;
  const all = [...key, ...columns, version];
  return `
    WITH ${input(shape, all)},
    held AS MATERIALIZED (
      SELECT ${[...key, version].join()} FROM ${table}
      WHERE (${key.join()}) IN (SELECT ${key.join()} FROM input) ORDER BY ${key.join()} FOR UPDATE
    ),
    judged AS (
      SELECT input.*, greatest(held.${version}, max(input.${version}) OVER (
        PARTITION BY ${key.map((column) => `input.${column}`).join()} ORDER BY input."#n"
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      )) AS "#before"
      FROM input LEFT JOIN held ON ${same(key, 'held', 'input')}
    ),
    newest AS (
      SELECT DISTINCT ON (${key.join()}) * FROM judged
      WHERE "#before" IS NULL OR ${version} > "#before"
      ORDER BY ${key.join()}, ${version} DESC, "#n"
    ),
    removed AS (
      DELETE FROM ${table} AS target USING newest
      WHERE newest."#gone" AND ${same(key, 'target', 'newest')}
        AND (target.${version} IS NULL OR target.${version} < newest.${version})
    ),
    written AS (
      INSERT INTO ${table} AS target (${all.join()})
      SELECT ${all.join()} FROM newest WHERE NOT "#gone" ORDER BY ${key.join()}
      ON CONFLICT (${key.join()}) DO UPDATE SET ${assign([...columns, version])}
      WHERE target.${version} IS NULL OR target.${version} < excluded.${version}
      RETURNING ${key.map((column) => `target.${column}`).join()}
    )
    SELECT
      CASE
        WHEN judged."#before" IS NULL OR judged.${version} > judged."#before" THEN 'applied'
        WHEN judged.${version} = judged."#before" THEN 'repeat'
        ELSE 'stale'
      END AS outcome,
      newest."#n" IS NOT NULL AND NOT newest."#gone" AND NOT EXISTS (
        SELECT FROM written WHERE ${same(key, 'written', 'newest')}
      ) AS raced
    FROM judged LEFT JOIN newest ON newest."#n" = judged."#n"
    ORDER BY judged."#n"`;
}

function input({ table }: Shape, columns: readonly string[]): string {
  return `input AS (
      SELECT change.place AS "#n", (change.document->>'gone')::boolean AS "#gone",
        ${columns.map((column) => `filled.${column}`).join()}
      FROM json_array_elements($1::json) WITH ORDINALITY AS change(document, place)
      CROSS JOIN LATERAL json_populate_record(NULL::${table}, change.document->'row') AS filled
    )`;
}

function assign(columns: readonly string[]): string {
  return columns.map((column) => `${column} = excluded.${column}`).join();
}

function same(key: readonly string[], one: string, other: string): string {
  return key.map((column) => `${one}.${column} = ${other}.${column}`).join(' AND ');
}
