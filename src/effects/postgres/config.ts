/**
 * The Postgres adapter's configuration, as YAML under `effects.<name>.postgres`. One of `processedEvents`, `upsert`
 * and `module` says how a repeat becomes a no-op:
 *
 * ```yaml
 * postgres:
 *   url: ${file:/run/secrets/database-url}   # postgres://user:password@host:5432/database?sslmode=verify-full&sslrootcert=…
 *   connections: 4                           # at most this many at once; one for each batch that is under way
 *   connectTimeout: 10s
 *   statementTimeout: 30s
 *   lockTimeout: 10s                         # shorter than statementTimeout
 *
 *   # 1. Each event id is stored in the same database transaction as what it causes.
 *   processedEvents:
 *     table: processed_events                # or schema.table; `millrace effects migrate` creates it
 *     consumer: flights.store-delays         # default: <application>.<effect>; two effects on one table must differ
 *     pruneAfter: 720h                       # default: never. What comes again after its id was pruned is applied again:
 *                                            # longer than the topic's retention, where offsets may be reset
 *     statements:                            # or `module: ./effects/store-delay.ts`
 *       - INSERT INTO delays (flight, minutes) VALUES ({key}, {value.delay})
 *       - UPDATE totals SET minutes = minutes + {value.delay} WHERE origin = {value.origin}
 *
 *   # 2. One row per key: the last record of a key wins, a tombstone deletes. With `version`, only a newer one does.
 *   upsert:
 *     table: delays
 *     key: { flight: key }                   # column: reference; a unique index on exactly these columns must exist
 *     columns: { minutes: value.delay, origin: value.origin, event_id: eventId }
 *     version: { column: version, from: value.version }
 *
 *   # 3. A module that writes its own idempotent SQL in the open database transaction.
 *   module: ./effects/store-delay.ts
 * ```
 *
 * The connection sets its time-outs as it starts and uses prepared statements: a pooler in between has to allow both
 * (PgBouncer: `ignore_startup_parameters`, 1.21 or newer), or pool by session.
 *
 * References: `key`, `value`, `key.a.b`, `value.a.0`, `value/a~1b/0` (a JSON pointer after the slash), `header.<name>`,
 * `eventId`, `timestamp` (ISO 8601), `topic`, `partition`, `offset`. In a statement a reference stands in braces.
 */
export interface PostgresConfig {
  /** A secret as a whole, since it may hold the password. */
  readonly url: string;
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly write: PostgresWrite;
}

export type PostgresWrite = ProcessedEventsConfig | UpsertConfig | PostgresModuleConfig;

export interface ProcessedEventsConfig {
  readonly type: 'processed-events';
  /** `table` or `schema.table`, as it is in the catalog: it will be quoted. */
  readonly table: string;
  readonly consumer: string;
  /** Null keeps them for ever. */
  readonly pruneAfterMs: number | null;
  readonly effect: { readonly type: 'statements'; readonly statements: readonly string[] } | PostgresModuleConfig;
}

export interface UpsertConfig {
  readonly type: 'upsert';
  /** `table` or `schema.table`, as it is in the catalog: it will be quoted. */
  readonly table: string;
  /** Column to reference. */
  readonly key: Readonly<Record<string, string>>;
  /** Column to reference; may be empty. */
  readonly columns: Readonly<Record<string, string>>;
  readonly version: { readonly column: string; readonly from: string } | null;
}

/** The file is absolute and loaded by whoever makes the adapter. */
export interface PostgresModuleConfig {
  readonly type: 'module';
  readonly path: string;
}
