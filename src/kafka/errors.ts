import { ClientError, type FailureKind } from '../pipeline/ports.ts';

/** What the client's errors carry. On errors of `beginTransaction` the flags are uninitialised memory: codes first. */
interface NativeError {
  message: string;
  code: number;
  isFatal?: boolean;
  isRetriable?: boolean;
  isTxnRequiresAbort?: boolean;
}

/**
 * Codes whose meaning does not depend on the flags. Negative: librdkafka's own; positive: the broker's
 * (https://kafka.apache.org/protocol#protocol_error_codes).
 */
const KIND_BY_CODE: Readonly<Record<number, FailureKind>> = {
  // Another producer took over the transactional id, or the transaction timed out: the client reports both alike.
  [-144]: 'fenced', // ERR__FENCED
  90: 'fenced', // PRODUCER_FENCED
  // The group decided without this member: its offsets are refused, the transaction must go.
  22: 'stale', // ILLEGAL_GENERATION
  25: 'stale', // UNKNOWN_MEMBER_ID
  27: 'stale', // REBALANCE_IN_PROGRESS
  82: 'stale', // FENCED_INSTANCE_ID
  110: 'stale', // FENCED_MEMBER_EPOCH
  113: 'stale', // STALE_MEMBER_EPOCH
  // A record, or the topic it goes to, is refused; the rest of the transaction may be fine.
  2: 'rejected', // INVALID_MSG
  3: 'rejected', // UNKNOWN_TOPIC_OR_PART
  10: 'rejected', // MSG_SIZE_TOO_LARGE
  17: 'rejected', // TOPIC_EXCEPTION
  18: 'rejected', // RECORD_LIST_TOO_LARGE
  32: 'rejected', // INVALID_TIMESTAMP
  44: 'rejected', // POLICY_VIOLATION
  87: 'rejected', // INVALID_RECORD: a record without key for a compacted topic, for one
  [-188]: 'rejected', // ERR__UNKNOWN_TOPIC
  [-190]: 'rejected', // ERR__UNKNOWN_PARTITION: a partition that the topic does not have
  // We never let the client choose another position.
  1: 'out-of-range', // OFFSET_OUT_OF_RANGE
  [-140]: 'out-of-range', // ERR__AUTO_OFFSET_RESET
  // Somebody has to change something first.
  29: 'denied', // TOPIC_AUTHORIZATION_FAILED
  30: 'denied', // GROUP_AUTHORIZATION_FAILED
  31: 'denied', // CLUSTER_AUTHORIZATION_FAILED
  35: 'denied', // UNSUPPORTED_VERSION
  50: 'denied', // INVALID_TRANSACTION_TIMEOUT
  53: 'denied', // TRANSACTIONAL_ID_AUTHORIZATION_FAILED
  58: 'denied', // SASL_AUTHENTICATION_FAILED
  [-165]: 'denied', // ERR__UNSUPPORTED_FEATURE
  // The client is in a state that no further call on it mends.
  [-150]: 'fatal', // ERR__FATAL
  [-172]: 'fatal', // ERR__STATE
  [-173]: 'fatal', // ERR__CONFLICT
};

/** The rejected codes for which the record is at fault, whatever becomes of its topic. */
const RECORD_LEVEL = new Set([2, 10, 18, 32, 87, -190]);

/** Without a flag, these mean that the broker could not be asked, not that it answered. */
const UNREACHED = new Set([
  -195, // ERR__TRANSPORT
  -193, // ERR__RESOLVE
  -187, // ERR__ALL_BROKERS_DOWN
  -185, // ERR__TIMED_OUT
  -180, // ERR__WAIT_COORD
  -178, // ERR__IN_PROGRESS
  -169, // ERR__AUTHENTICATION: a broker that restarts reports it too
  7, // REQUEST_TIMED_OUT
  14, // COORDINATOR_LOAD_IN_PROGRESS
  15, // COORDINATOR_NOT_AVAILABLE
  16, // NOT_COORDINATOR
  51, // CONCURRENT_TRANSACTIONS
  88, // UNSTABLE_OFFSET_COMMIT: the offsets' transaction is still open
]);

export const CONCURRENT_TRANSACTIONS = 51;
export const QUEUE_FULL = -184;
export const STATE = -172;
/** A partition that the topic does not have. */
export const UNKNOWN_PARTITION = -190;
export const FATAL = -150;
export const TOPIC_DENIED = 29;
export const GROUP_DENIED = 30;
export const INVALID_TRANSACTION_TIMEOUT = 50;
export const TRANSACTIONAL_ID_DENIED = 53;

function kindOf(error: NativeError): FailureKind {
  const byCode = KIND_BY_CODE[error.code];
  if (byCode !== undefined) return byCode;
  if (error.isFatal === true) return 'fatal';
  if (error.isTxnRequiresAbort === true) return 'abortable';
  if (error.isRetriable === true || UNREACHED.has(error.code)) return 'retriable';
  return 'fatal'; // unknown: a new producer and the broker's own state are the safe way on
}

/** The one place where the client's errors get their meaning. Messages are never looked at. */
export function classify(error: unknown, doing: string): ClientError {
  if (error instanceof ClientError) return error;
  const native = error as Partial<NativeError> | null;
  if (native === null || typeof native !== 'object' || typeof native.code !== 'number') {
    return new ClientError(`${doing}: ${error instanceof Error ? error.message : String(error)}`, 'fatal', 0);
  }
  const known = { ...native, message: native.message ?? '', code: native.code };
  return new ClientError(
    `${doing}: ${known.message} (code ${known.code})`,
    kindOf(known),
    known.code,
    RECORD_LEVEL.has(known.code),
  );
}

/** What the client tells by an event: a text, whatever lies behind it. */
export function complaint(event: unknown): ClientError {
  const { message } = event as { message?: string };
  return new ClientError(message ?? String(event), 'retriable', 0);
}
