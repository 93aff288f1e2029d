import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';

import { classifySqlState, databaseFailure } from '../../../../src/effects/postgres/sqlstate.ts';

describe('an SQLSTATE', () => {
  it.each([
    [
      'transient',
      [
        '08006',
        '25006',
        '25P03',
        '40001',
        '40P01',
        '53100',
        '53300',
        '55P03',
        '57014',
        '57P01',
        '57P03',
        '58030',
        'XX000',
      ],
    ],
    ['poison', ['22001', '22P02', '23502', '23503', '23505', '23514', '21000', '44000', '54000', 'P0001']],
    ['denied', ['28P01', '28000', '3D000', '3F000', '42501', '42P01', '42703', '42601']],
  ])('is %s', (kind, states) => {
    expect(states.filter((state) => classifySqlState(state) !== kind)).toEqual([]);
  });

  it('that nobody knows holds the record instead of losing sight of it', () => {
    expect(classifySqlState('ZZ999')).toBe('denied');
  });
});

describe('an error', () => {
  it('of the server is told with its state and place, and without the row that it quotes', () => {
    const error = new DatabaseError('duplicate key value violates unique constraint "one"', 0, 'error');
    Object.assign(error, {
      code: '23505',
      detail: 'Key (id)=(secret) already exists.',
      table: 'delays',
      constraint: 'one',
    });
    const failure = databaseFailure(error, 'applying 1 records');
    expect(failure.kind).toBe('poison');
    expect(failure.message).toBe(
      'applying 1 records: SQLSTATE 23505: duplicate key value violates unique constraint "one", table delays, constraint one',
    );
    expect(failure.cause).toBe(error);
  });

  it('of the connection is transient, whatever its text says', () => {
    const error = Object.assign(new Error('SQLSTATE 23505'), { code: 'ECONNRESET' });
    expect(databaseFailure(error, 'applying')).toMatchObject({
      kind: 'transient',
      message: 'applying: SQLSTATE 23505 (ECONNRESET)',
    });
  });

  it('of the certificate is for somebody to mend', () => {
    const error = Object.assign(new Error('self-signed'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(databaseFailure(error, 'connecting')).toMatchObject({ kind: 'denied' });
  });
});
