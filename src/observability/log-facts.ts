import { types } from 'node:util';
import type { Failure, Observer } from '../pipeline/observer.ts';
import type { TopicPartition } from '../pipeline/ports.ts';
import { errorType } from '../transform/errors.ts';
import { userStack } from '../transform/stack.ts';
import type { Logger } from './logger.ts';
import { Thinner } from './thinner.ts';

/** Of lines that say the same, one per this interval is written. */
const REPEAT_INTERVAL_MS = 30_000;
/** An error may be its own cause. */
const MAX_CAUSES = 5;

/**
 * The observer that logs what an operator wants to read: changes of assignment, and what went wrong. Transactions that
 * commit show only at debug level.
 *
 * @param logger Bound to the pipeline.
 * @param now A clock in milliseconds that never goes back.
 */
export function logFacts(logger: Logger, now?: () => number): Partial<Observer> {
  const thinner = new Thinner(REPEAT_INTERVAL_MS, now);

  function thinned(level: 'warn' | 'error', kind: string, fields: () => object, message: string): void {
    thinner.pass(kind, (suppressed) => {
      logger[level](suppressed > 0 ? { ...fields(), suppressed } : fields(), message);
    });
  }

  return {
    assigned: (partitions) => logger.info({ partitions: byTopic(partitions) }, 'partitions assigned'),
    revoked: (partitions) => logger.info({ partitions: byTopic(partitions) }, 'partitions revoked'),
    lost: (partitions) =>
      logger.warn({ partitions: byTopic(partitions) }, 'partitions lost: the group took this process for dead'),

    retried: ({ delayMs, ...failure }) =>
      thinned(
        'warn',
        `retried ${failure.error.name}`,
        () => ({ ...describe(failure), delayMs }),
        'record failed and will be tried again',
      ),
    deadLettered: (failure) =>
      thinned(
        'warn',
        `dead-lettered ${failure.error.name}`,
        () => describe(failure),
        'record given up and dead-lettered',
      ),
    held: (failure) =>
      thinned(
        'error',
        `held ${failure.topic} ${failure.partition}`,
        () => describe(failure),
        'partition held: its next record fails and is not, or can not be, dead-lettered',
      ),
    skipped: ({ topic, partition }, from, to) =>
      logger.error({ topic, partition, from, to }, 'records were deleted before they were read, and are left out'),
    released: ({ topic, partition }) => logger.info({ topic, partition }, 'partition released'),

    committed: ({ records, produced, durationMs }) =>
      logger.debug(
        { records: Object.fromEntries(records), produced: Object.fromEntries(produced), durationMs },
        'transaction committed',
      ),
    aborted(reason, err) {
      if (reason === 'shutdown') logger.info({ reason, err }, 'transaction aborted');
      else {
        const why = err ? `: ${err.message}` : '';
        thinned(
          'warn',
          `aborted ${reason}`,
          () => ({ reason }),
          `transaction aborted, its records are read again${why}`,
        );
      }
    },
    recycled: (reason, err) =>
      thinned(
        'warn',
        `recycled ${reason}`,
        () => ({ reason }),
        `producer replaced by a new one under the same transactional id${err ? `: ${err.message}` : ''}`,
      ),
    clientError: (client, err) =>
      // Its stack is ours and says nothing; its message says what and where.
      thinned(
        'warn',
        `client ${client} ${err.message.replace(/\d+/g, '#')}`,
        () => ({ client }),
        client === 'target' ? `target: ${err.message}` : `Kafka client: ${err.message}`,
      ),
  };
}

function describe({ topic, partition, offset, attempt, error }: Failure): object {
  return { topic, partition, offset, attempt, err: thrown(error) };
}

/**
 * An error with its own fields, such as a code, and its causes. Of a stack only what is the user's: what lies below says
 * nothing about the record.
 */
function thrown(error: Error, causes = MAX_CAUSES): object {
  const { message, cause } = error;
  return Object.assign({}, error, {
    name: undefined, // it is the type
    type: errorType(error),
    message,
    stack: userStack(error) || undefined,
    cause: types.isNativeError(cause) && causes > 0 ? thrown(cause, causes - 1) : undefined,
  });
}

function byTopic(partitions: readonly TopicPartition[]): Record<string, number[]> {
  const numbers: Record<string, number[]> = {};
  for (const { topic, partition } of partitions) (numbers[topic] ??= []).push(partition);
  return numbers;
}
