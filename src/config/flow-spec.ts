import * as z from 'zod';
import { clientProperties } from './client-spec.ts';
import { choice, duration, either, flag, integer, name, path, size, topic } from './fields.ts';

/** The blocks that pipelines and effects have in common. */

const PLAIN_SERDES = ['bytes', 'string', 'json'] as const;

export const serde = z
  .union([z.enum(PLAIN_SERDES), z.strictObject({ avro: path('./schemas/flight.avsc') })])
  .meta({ allowed: either([...PLAIN_SERDES, '{ avro: <path to a .avsc file> }']) });

export const input = z.strictObject({
  topics: z
    .array(topic())
    .min(1)
    .describe('The topics to read.')
    .meta({ allowed: 'a list with at least one topic, such as [flights]' }),
  key: serde.prefault('bytes').describe('How keys are decoded.'),
  value: serde.prefault('bytes').describe('How values are decoded.'),
  startAt: choice('earliest', 'latest')
    .prefault('earliest')
    .describe(
      'Where to begin in a partition for which the group has no committed offset yet. With `latest`, too, partitions ' +
        'that are added to a topic after the group began are read from their beginning.',
    ),
  onDataLoss: choice('stop', 'skip')
    .prefault('stop')
    .describe(
      'What to do where records were deleted, by retention or by hand, before they were read. `stop`: the process ' +
        'exits with a message. `skip`: it goes on with the first record that is left, logs an error and counts the offsets.',
    ),
});

export const transaction = z.strictObject({
  commitInterval: duration({ min: '1ms', max: '10m' })
    .prefault('100ms')
    .describe('How long a transaction collects records before it is committed. Readers see results this much later.'),
  maxRecords: integer({ min: 1, max: 1_000_000 })
    .prefault(50_000)
    .describe('A transaction with this many input records is committed at once.'),
  maxBytes: size({ min: '1KiB', max: '1GiB' })
    .prefault('16MiB')
    .describe('A transaction with this many bytes of input is committed at once.'),
  timeout: duration({ min: '1s', max: '1h' })
    .prefault('60s')
    .describe(
      'After this the broker aborts a transaction whose producer has gone silent; readers wait for it that long. ' +
        "The broker's transaction.max.timeout.ms is its upper limit.",
    ),
});

export const retry = z.strictObject({
  attempts: integer({ min: 1, max: 1000 })
    .prefault(3)
    .describe('How often a record is tried in all, the first included.'),
  minDelay: duration({ min: '1ms', max: '1h' })
    .prefault('1s')
    .describe('The wait before the second try. It doubles with each further one.'),
  maxDelay: duration({ min: '1ms', max: '24h' }).prefault('10s').describe('The longest wait between two tries.'),
});

export const deadLetter = z.strictObject({
  topic: topic().describe('Where records go that failed for good.'),
  format: choice('headers', 'json')
    .prefault('headers')
    .describe(
      '`headers`: the original bytes, and headers that say what went wrong. ' +
        '`json`: one JSON document that holds both.',
    ),
});

export const consumer = z.strictObject({
  protocol: choice('classic', 'consumer')
    .prefault('classic')
    .describe('The group protocol. `consumer` (KIP-848) needs brokers of Kafka 4.0 or later.'),
  assignor: choice('cooperative-sticky', 'range', 'roundrobin')
    .prefault('cooperative-sticky')
    .describe('How partitions are shared out among the members; classic protocol only.'),
  sessionTimeout: duration({ min: '1s', max: '1h' })
    .prefault('10s')
    .describe('A member that has been silent for this long has its partitions taken over; classic protocol only.'),
  maxPollInterval: duration({ min: '1s', max: '24h' })
    .prefault('5m')
    .describe('A member that has not polled for this long has its partitions taken over.'),
  staticMembership: flag()
    .prefault(true)
    .describe(
      'Whether the group knows a member by its name (KIP-345), so that one which is back within `sessionTimeout` finds ' +
        'its partitions as it left them; classic protocol only. It wants an `instance` that is the same at each start: ' +
        'see workers.md for when to turn it off.',
    ),
  properties: clientProperties('consumer').prefault({}).describe('librdkafka properties of the consumer.'),
});

export const producer = z.strictObject({
  properties: clientProperties('producer').prefault({}).describe('librdkafka properties of the producer.'),
});

export const group = name({ max: 249 })
  .optional()
  .describe('The consumer group. By default `<application>.<name>`. No two pipelines or effects may share one.');

export const onError = choice('hold', 'stop')
  .prefault('hold')
  .describe(
    'What becomes of a record that failed for good and can not be dead-lettered. `hold`: its partition waits, the ' +
      'others go on, readiness turns false. `stop`: the process exits.',
  );
