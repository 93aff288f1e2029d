import { DatabaseError } from 'pg';

import { databaseFailure } from './sqlstate.ts';
import { EffectFailure } from '../adapter.ts';
import type { Session } from './session.ts';
import type { Statement } from './statement.ts';

const WRONG_NUMBER_OF_PARAMETERS = '08P01';

/**
 * Has the server parse a statement without running it, so that a wrong table or column shows before the first record.
 * One parameter too many does it: that is found after parsing and before running. SQL's own PREPARE would do for some
 * kinds of statements only.
 */
export async function checkStatement(session: Session, { text, parameters }: Statement, index: number): Promise<void> {
  try {
    await session.send([{ text, values: Array.from({ length: parameters.length + 1 }, () => null) }]);
  } catch (error) {
    if (error instanceof DatabaseError && error.code === WRONG_NUMBER_OF_PARAMETERS) return;
    const { kind, message } = databaseFailure(error, `statement ${index + 1}`);
    // What is wrong with a statement as such, somebody has to mend.
    throw new EffectFailure(kind === 'poison' ? 'denied' : kind, message, { cause: error });
  }
}
