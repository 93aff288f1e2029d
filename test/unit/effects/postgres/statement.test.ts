import { describe, expect, it } from 'vitest';

import { compileStatement } from '../../../../src/effects/postgres/statement.ts';
import { effectRecord } from '../../../helpers/effect-record.ts';

describe('a statement', () => {
  it('has a parameter for each placeholder, in order, also for one that comes twice', () => {
    const { text, parameters } = compileStatement('SELECT {key}, { value.a }::int + {key}');
    expect(text).toBe('SELECT $1, $2::int + $3');
    expect(parameters.map((parameter) => parameter.text)).toEqual(['key', 'value.a', 'key']);
    const record = effectRecord({ key: 'K', value: { a: 1 } });
    expect(parameters.map(({ resolve }) => resolve(record))).toEqual(['K', 1, 'K']);
  });

  it.each([
    `SELECT '{1,2}'::int[], 'it''s {x}'`,
    String.raw`SELECT E'\' {x} ' || e'a''{x}'`,
    `SELECT "odd {key} ""name""" FROM t`,
    `SELECT $$ {x} ' $$, $tag$ {x} $$ ' $tag$`,
    `SELECT 1 -- {x} it's\n`,
    `SELECT /* {x} /* ' */ {y} */ 1`,
    `SELECT a::text, b[1:2], DATE'2020-01-01', c$1 FROM t`,
  ])('is left as it is where nothing is to be bound: %s', (sql) => {
    expect(compileStatement(sql)).toEqual({ text: sql, parameters: [] });
  });

  it('goes on binding after what is quoted', () => {
    const { text } = compileStatement(`SELECT 'a' || {key} -- {x}\n, $$q$$, {eventId} /* {x} */ , {topic}`);
    expect(text).toBe(`SELECT 'a' || $1 -- {x}\n, $$q$$, $2 /* {x} */ , $3`);
  });

  it.each([
    ['SELECT {kye}', 'line 1, column 8: unknown reference "kye"'],
    ['SELECT 1,\n  {}', 'line 2, column 3: unknown reference ""'],
    ['SELECT {value..a}', 'column 8: "value..a" is not a path'],
    ['SELECT {value.a b}', 'is not a path'],
    ['SELECT {value/a~b}', '~0'],
    ['SELECT {header}', 'unknown reference "header"'],
    ['SELECT {key', 'column 8: { is never closed'],
    ['SELECT key}', 'column 11: } is never closed or was never opened'],
    [`SELECT 'x`, `column 8: ' is never closed`],
    ['SELECT /* x', 'column 8: the comment is never closed'],
    ['SELECT $1', 'column 8: $1 is bound to nothing'],
    [`SELECT '{value.a}'`, 'leave the quotes out'],
  ])('is refused with the place: %s', (sql, message) => {
    expect(() => compileStatement(sql)).toThrow(message);
  });
});
