import { DatabaseError } from 'pg';

import { EffectFailure } from '../adapter.ts';
import { errorCode, isCertificateError } from '../error-codes.ts';

type Kind = EffectFailure['kind'];

/** The states that mean something else than their class. */
const STATES: Readonly<Record<string, Kind>> = {
  '0A000': 'transient', // feature_not_supported: a prepared statement whose result another schema changes
  '25P03': 'transient', // idle_in_transaction_session_timeout: this process was frozen or slow
  '25006': 'transient', // read_only_sql_transaction: a standby, which a failover has not made the primary yet
  '42501': 'denied', // insufficient_privilege
  '55P03': 'transient', // lock_not_available: lock_timeout
  '57014': 'transient', // query_canceled: statement_timeout, or an operator
};

/** By class, the first two characters. */
const CLASSES: Readonly<Record<string, Kind>> = {
  '08': 'transient', // connection_exception
  '09': 'poison', // triggered_action_exception
  '21': 'poison', // cardinality_violation: a subquery of a statement gave two rows for this record
  '22': 'poison', // data_exception: out of range, not a number, not a date
  '23': 'poison', // integrity_constraint_violation; a repeat is never seen as one, ON CONFLICT takes care of it
  '26': 'transient', // invalid_sql_statement_name: a pooler in between gave us another of its connections
  '27': 'poison', // triggered_data_change_violation
  '28': 'denied', // invalid_authorization_specification: unknown role, wrong password
  '38': 'poison', // external_routine_exception
  '39': 'poison', // external_routine_invocation_exception
  '3D': 'denied', // invalid_catalog_name: no such database
  '3F': 'denied', // invalid_schema_name
  '40': 'transient', // transaction_rollback: deadlock, serialization failure
  // syntax_error_or_access_rule_violation: no such table or column, a wrong type. It hits every record, so that dead
  // letters would be all that is written; and a migration that is under way mends it.
  '42': 'denied',
  '44': 'poison', // with_check_option_violation
  '53': 'transient', // insufficient_resources: disk full, out of memory, too many connections
  '54': 'poison', // program_limit_exceeded: an index entry that is too large
  '55': 'transient', // object_not_in_prerequisite_state: object in use
  '57': 'transient', // operator_intervention: shut down, starting up
  '58': 'transient', // system_error: I/O
  P0: 'poison', // plpgsql_error: RAISE in a trigger or a function
  XX: 'transient', // internal_error
};

/** Held rather than dead-lettered: nothing says that it is the record's fault. */
const UNKNOWN: Kind = 'denied';

export function classifySqlState(state: string): Kind {
  return STATES[state] ?? CLASSES[state.slice(0, 2)] ?? UNKNOWN;
}

/** @param doing What was tried, for the message: `applying 100 records`. */
export function databaseFailure(error: unknown, doing: string): EffectFailure {
  if (error instanceof DatabaseError && error.code !== undefined) {
    return new EffectFailure(classifySqlState(error.code), describe(error, doing), { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  if (isCertificateError(error)) {
    const remedy = 'see sslmode and sslrootcert in the URL';
    return new EffectFailure('denied', `${doing}: the database's certificate is not accepted: ${message}; ${remedy}`, {
      cause: error,
    });
  }
  // Without an SQLSTATE it did not come from the server: the connection failed, was cut or did not answer in time.
  const code = errorCode(error);
  return new EffectFailure('transient', `${doing}: ${message || 'no connection'}${code ? ` (${code})` : ''}`, {
    cause: error,
  });
}

/** Without PostgreSQL's detail, which quotes the row. */
function describe(error: DatabaseError, doing: string): string {
  const places = [
    ['table', error.table],
    ['column', error.column],
    ['constraint', error.constraint],
  ].flatMap(([what, name]) => (name === undefined ? [] : [`${what} ${name}`]));
  return `${doing}: SQLSTATE ${error.code}: ${[error.message, ...places].join(', ')}`;
}
