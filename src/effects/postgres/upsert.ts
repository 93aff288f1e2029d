import { escapeIdentifier } from 'pg';

import { EffectFailure, type Applied, type EffectRecord } from '../adapter.ts';
import { jsonText } from '../json-text.ts';
import { InvalidSetting, parseReference, type Reference } from '../reference.ts';
import type { UpsertConfig } from '../../config/compiled.ts';
import { hexBytes } from './parameter.ts';
import type { Query, Session } from './session.ts';
import { checkUnique, quoteTable } from './table.ts';
import { upsertSql } from './upsert-sql.ts';
import type { Write } from './write.ts';

/** How often a batch is tried again at once when another instance has inserted one of its rows meanwhile. */
const RACES = 3;

interface Verdict {
  readonly outcome: Applied;
  /** Judged before another instance's row was seen. */
  readonly raced: boolean;
}

/**
 * One row per key. The whole batch is one statement, however many records it has, and of several records of a key only
 * the last one (with versions: the newest) is written. Without versions a repeat writes what is there already, which
 * can't be told from a change. With versions a tombstone deletes only what is older than itself; what comes after it
 * with an older version brings the row back, since nothing is left to compare with.
 */
export class Upsert implements Write {
  readonly migrations = [];
  readonly #table: string;
  readonly #key: readonly (readonly [string, Reference])[];
  readonly #columns: readonly (readonly [string, Reference])[];
  readonly #version: readonly [string, Reference] | null;
  readonly #sql: string;

  /** Throws an `InvalidSetting`. */
  constructor({ table, key, columns, version }: UpsertConfig) {
    const names = [...Object.keys(key), ...Object.keys(columns), ...(version === null ? [] : [version.column])];
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new InvalidSetting(`the column ${twice} is set twice, in key, columns or version`);
    if (Object.keys(key).length === 0) throw new InvalidSetting('key needs a column: rows are found by it');
    this.#table = table;
    this.#key = parseColumns(key);
    this.#columns = parseColumns(columns);
    this.#version = version === null ? null : [version.column, parseReference(version.from)];
    this.#sql = upsertSql({
      table: quoteTable(table),
      key: Object.keys(key).map(escapeIdentifier),
      columns: Object.keys(columns).map(escapeIdentifier),
      version: version === null ? null : escapeIdentifier(version.column),
    });
  }

  async check(session: Session): Promise<void> {
    const columns = this.#key.map(([column]) => column);
    await checkUnique(session, this.#table, columns, 'create it, since rows are found by it');
    await session.send([{ text: 'BEGIN' }, this.#query([]), { text: 'ROLLBACK' }]);
  }

  async apply(session: Session, batch: readonly EffectRecord[]): Promise<readonly Applied[]> {
    const query = this.#query(batch);
    if (this.#version === null) {
      await session.commit([{ text: 'BEGIN' }, query]);
      return batch.map(() => 'applied');
    }
    for (let race = 0; race < RACES; race += 1) {
      const [, result] = await session.send([{ text: 'BEGIN' }, query]);
      const verdicts = (result?.rows ?? []) as Verdict[];
      if (!verdicts.some(({ raced }) => raced)) {
        await session.commit();
        return verdicts.map(({ outcome }) => outcome);
      }
      // The row that was not there when the statement began is there now, and can be compared with.
      await session.send([{ text: 'ROLLBACK' }]);
    }
    throw new EffectFailure(
      'transient',
      `another instance keeps inserting the same rows into ${quoteTable(this.#table)}`,
    );
  }

  #query(batch: readonly EffectRecord[]): Query {
    const changes = batch.map((record) => this.#change(record));
    return { name: 'millrace-upsert', text: this.#sql, values: [jsonText(changes, hexBytes)] };
  }

  #change(record: EffectRecord): { readonly gone: boolean; readonly row: Readonly<Record<string, unknown>> } {
    const gone = record.value === null;
    const required = this.#version === null ? this.#key : [...this.#key, this.#version];
    const row: Record<string, unknown> = {};
    for (const [column, reference] of required) {
      const value = reference.resolve(record) ?? null;
      if (value === null) {
        const whose = gone ? 'the tombstone' : 'the record';
        throw new EffectFailure(
          'poison',
          `${whose} has nothing at ${reference.text}, which the column ${column} needs`,
        );
      }
      row[column] = value;
    }
    if (!gone) for (const [column, reference] of this.#columns) row[column] = reference.resolve(record) ?? null;
    return { gone, row };
  }
}

function parseColumns(columns: Readonly<Record<string, string>>): readonly (readonly [string, Reference])[] {
  return Object.entries(columns).map(([column, from]) => [column, parseReference(from)]);
}
