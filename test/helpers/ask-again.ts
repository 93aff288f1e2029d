import kafka from '@confluentinc/kafka-javascript';

import { waitFor } from './wait.ts';

const { ERRORS } = kafka.CODES;

/**
 * What Kafka answers when it asks to be asked again: a coordinator moves or is about to be made, a leader is elected, a
 * topic is not known to every broker yet. No answer at all is among them, so only what may be done twice is asked again.
 */
const NOT_NOW: ReadonlySet<unknown> = new Set([
  ERRORS.ERR__TRANSPORT,
  ERRORS.ERR__ALL_BROKERS_DOWN,
  ERRORS.ERR__TIMED_OUT,
  ERRORS.ERR__WAIT_COORD,
  ERRORS.ERR__NOENT, // no partition has a leader yet, as far as the client knows
  ERRORS.ERR__UNKNOWN_TOPIC,
  ERRORS.ERR__UNKNOWN_PARTITION,
  ERRORS.ERR_UNKNOWN_TOPIC_OR_PART,
  ERRORS.ERR_LEADER_NOT_AVAILABLE,
  ERRORS.ERR_NOT_LEADER_FOR_PARTITION,
  ERRORS.ERR_REQUEST_TIMED_OUT,
  ERRORS.ERR_BROKER_NOT_AVAILABLE,
  ERRORS.ERR_REPLICA_NOT_AVAILABLE,
  ERRORS.ERR_NETWORK_EXCEPTION,
  ERRORS.ERR_COORDINATOR_LOAD_IN_PROGRESS,
  ERRORS.ERR_COORDINATOR_NOT_AVAILABLE,
  ERRORS.ERR_NOT_COORDINATOR,
  ERRORS.ERR_NOT_CONTROLLER,
  ERRORS.ERR_KAFKA_STORAGE_ERROR,
  ERRORS.ERR_FENCED_LEADER_EPOCH,
  ERRORS.ERR_UNKNOWN_LEADER_EPOCH,
  ERRORS.ERR_OFFSET_NOT_AVAILABLE,
  ERRORS.ERR_UNSTABLE_OFFSET_COMMIT,
]);

/** Asks the cluster until its answer is not "not now"; any other error is the answer. */
export async function askAgain<T>(what: string, ask: () => Promise<T>, timeoutMs = 30_000): Promise<T> {
  let last = '';
  const probe = async (): Promise<{ answer: T } | undefined> => {
    try {
      return { answer: await ask() };
    } catch (error) {
      if (!NOT_NOW.has((error as { code?: unknown }).code)) throw error;
      last = String(error);
      return undefined;
    }
  };
  const { answer } = await waitFor(what, probe, { timeoutMs, seen: () => last });
  return answer;
}
