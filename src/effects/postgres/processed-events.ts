import type { Applied, EffectRecord } from '../adapter.ts';
import type { ProcessedEventsConfig } from '../../config/compiled.ts';
import { runEffect, type PostgresEffect } from './effect.ts';
import { toParameter } from './parameter.ts';
import type { Query, Session } from './session.ts';
import type { Statement } from './statement.ts';
import { checkStatement } from './check-statement.ts';
import { checkUnique, quoteTable } from './table.ts';
import type { Write } from './write.ts';

/** Any number that all instances agree on: creating a table twice at once fails even with IF NOT EXISTS. */
const MIGRATION_LOCK = 6_455_772;
const PRUNE_ROWS = 5_000;

/**
 * Stores each event's id in the same database transaction as what it causes. Two instances with one event: the second
 * waits at the id for the first's transaction, then finds the id there, or its own way free.
 *
 * Pruning forgets: an event that comes again after its id was pruned is applied again. So `pruneAfter` has to be longer
 * than events can come again: than the topic's retention, where offsets may be reset or topics replayed.
 */
export class ProcessedEvents implements Write {
  readonly #table: string;
  readonly #quoted: string;
  readonly #consumer: string;
  readonly #insert: string;
  readonly #effect: PostgresEffect | readonly Statement[];

  constructor({ table, consumer }: ProcessedEventsConfig, effect: PostgresEffect | readonly Statement[]) {
    this.#table = table;
    this.#quoted = quoteTable(table);
    this.#consumer = consumer;
    this.#effect = effect;
    // In the ids' order: two instances with the same events then wait for each other, not crosswise.
    this.#insert = `
      INSERT INTO ${this.#quoted} (consumer, event_id, topic, partition, "offset")
      SELECT $1, event.id, event.topic, event.partition, event.place
      FROM unnest($2::text[], $3::text[], $4::int[], $5::bigint[]) AS event(id, topic, partition, place)
      ORDER BY event.id
      ON CONFLICT (consumer, event_id) DO NOTHING
      RETURNING event_id`;
  }

  get migrations(): readonly Query[] {
    const index = quoteTable(`${this.#table.split('.').at(-1) ?? ''}_processed_at`);
    return [
      { text: 'SELECT pg_advisory_xact_lock($1)', values: [MIGRATION_LOCK] },
      {
        text: `CREATE TABLE IF NOT EXISTS ${this.#quoted} (
          consumer text NOT NULL,
          event_id text NOT NULL,
          processed_at timestamptz NOT NULL DEFAULT now(),
          topic text NOT NULL,
          partition integer NOT NULL,
          "offset" bigint NOT NULL,
          PRIMARY KEY (consumer, event_id)
        )`,
      },
      { text: `CREATE INDEX IF NOT EXISTS ${index} ON ${this.#quoted} (consumer, processed_at)` },
    ];
  }

  async check(session: Session): Promise<void> {
    await checkUnique(session, this.#table, ['consumer', 'event_id'], '`millrace effects migrate` creates the table');
    await session.send([{ text: 'BEGIN' }, this.#dedupe([]), { text: 'ROLLBACK' }]);
    if (typeof this.#effect === 'function') return;
    for (const [index, statement] of this.#effect.entries()) await checkStatement(session, statement, index);
  }

  async apply(session: Session, batch: readonly EffectRecord[]): Promise<readonly Applied[]> {
    const [, inserted] = await session.send([{ text: 'BEGIN' }, this.#dedupe(batch)]);
    const fresh = new Set((inserted?.rows as { event_id: string }[]).map((row) => row.event_id));
    // Deleted as it is found: the same id again in this batch is a repeat.
    const isFirst = batch.map(({ eventId }) => fresh.delete(eventId));
    const records = batch.filter((_, index) => isFirst[index]);
    const outcomes = await this.#write(session, records);
    return isFirst.map((first) => (first ? (outcomes.shift() ?? 'applied') : 'repeat'));
  }

  /** Deletes a bounded number of old ids in a transaction of its own. */
  async prune(session: Session, olderThanMs: number): Promise<{ readonly rows: number; readonly done: boolean }> {
    const [result] = await session.send([
      {
        text: `
          DELETE FROM ${this.#quoted} WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM ${this.#quoted}
            WHERE consumer = $1 AND processed_at < now() - $2 * interval '1 millisecond'
            LIMIT ${PRUNE_ROWS} FOR UPDATE SKIP LOCKED
          ))`,
        values: [this.#consumer, olderThanMs],
      },
    ]);
    const rows = result?.rowCount ?? 0;
    return { rows, done: rows < PRUNE_ROWS };
  }

  #dedupe(batch: readonly EffectRecord[]): Query {
    return {
      name: 'millrace-processed-events',
      text: this.#insert,
      values: [
        this.#consumer,
        batch.map(({ eventId }) => eventId),
        batch.map(({ source }) => source.topic),
        batch.map(({ source }) => source.partition),
        batch.map(({ source }) => source.offset),
      ],
    };
  }

  async #write(session: Session, records: readonly EffectRecord[]): Promise<Applied[]> {
    if (typeof this.#effect === 'function') {
      const outcomes = await runEffect(this.#effect, session, records);
      await session.commit();
      return outcomes;
    }
    await session.commit(bind(this.#effect, records));
    return records.map(() => 'applied');
  }
}

function bind(statements: readonly Statement[], records: readonly EffectRecord[]): Query[] {
  return records.flatMap((record) =>
    statements.map(({ text, parameters }, index) => ({
      name: `millrace-statement-${index}`,
      text,
      values: parameters.map(({ resolve }) => toParameter(resolve(record))),
    })),
  );
}
