import * as z from 'zod';
import { clientProperties } from './client-spec.ts';
import { choice, duration, either, flag, integer, name, path, size, text, topic } from './fields.ts';

/**
 * The configuration, one spec per field: type, bounds, default and meaning. Parsing, error messages, the JSON Schema
 * and docs/configuration.md all come from here.
 */

const PLAIN_SERDES = ['bytes', 'string', 'json'] as const;

const serde = z
  .union([z.enum(PLAIN_SERDES), z.strictObject({ avro: path('./schemas/flight.avsc') })])
  .meta({ allowed: either([...PLAIN_SERDES, '{ avro: <path to a .avsc file> }']) });

const HOST_PORT = String.raw`([A-Z_]+://)?(\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9._-]+):[0-9]{1,5}`;

const server = z
  .string()
  .regex(new RegExp(`^${HOST_PORT}$`))
  .meta({ allowed: 'host:port' });

const servers = z
  .union([z.string().regex(new RegExp(`^${HOST_PORT}(, ?${HOST_PORT})*$`)), z.array(server).min(1)])
  .meta({ allowed: 'host:port, several with commas between them, or a list of them' });

const output = z.strictObject({
  topic: topic().describe('Where records go that the transform sends to this output.'),
  key: serde.prefault('bytes').describe('How keys are encoded.'),
  value: serde.prefault('bytes').describe('How values are encoded.'),
});

const input = z.strictObject({
  topics: z
    .array(topic())
    .min(1)
    .describe('The topics to read.')
    .meta({ allowed: 'a list with at least one topic, such as [flights]' }),
  key: serde.prefault('bytes').describe('How keys are decoded.'),
  value: serde.prefault('bytes').describe('How values are decoded.'),
  startAt: choice('earliest', 'latest')
    .prefault('earliest')
    .describe('Where to begin in a partition for which the group has no committed offset yet.'),
});

const transaction = z.strictObject({
  commitInterval: duration({ min: '1ms', max: '10m' })
    .prefault('100ms')
    .describe('How long a transaction collects records before it is committed. Readers see results this much later.'),
  maxRecords: integer({ min: 1, max: 1_000_000 })
    .prefault(10_000)
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

const retry = z.strictObject({
  attempts: integer({ min: 1, max: 1000 })
    .prefault(3)
    .describe('How often a record is tried in all, the first included.'),
  minDelay: duration({ min: '1ms', max: '1h' })
    .prefault('1s')
    .describe('The wait before the second try. It doubles with each further one.'),
  maxDelay: duration({ min: '1ms', max: '24h' }).prefault('10s').describe('The longest wait between two tries.'),
});

const deadLetter = z.strictObject({
  topic: topic().describe('Where records go that failed for good.'),
  format: choice('headers', 'json')
    .prefault('headers')
    .describe(
      '`headers`: the original bytes, and headers that say what went wrong. ' +
        '`json`: one JSON document that holds both.',
    ),
});

const consumer = z.strictObject({
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
  properties: clientProperties('consumer').prefault({}).describe('librdkafka properties of the consumer.'),
});

const pipeline = z.strictObject({
  group: name({ max: 249 })
    .optional()
    .describe('The consumer group. By default `<application>.<pipeline>`. No two pipelines may share one.'),
  input: input.describe('What is read.'),
  transform: path('./transforms/route-flight.ts').describe('The module whose default export is the transform.'),
  outputs: z
    .record(name({ max: 100 }), output)
    .refine((outputs) => Object.keys(outputs).length > 0)
    .describe('What is written. The name is what the transform gives as `to`.')
    .meta({ allowed: 'a mapping of at least one output', minProperties: 1 }),
  transaction: transaction.prefault({}).describe('When a transaction ends.'),
  retry: retry.prefault({}).describe('What is done about a record that fails.'),
  deadLetter: deadLetter
    .optional()
    .describe('Where a record goes after its last try. Without it such a record is dealt with by `onError`.'),
  onError: choice('hold', 'stop')
    .prefault('hold')
    .describe(
      'What becomes of a record that failed for good and can not be dead-lettered. `hold`: its partition waits, the ' +
        'others go on, readiness turns false. `stop`: the process exits.',
    ),
  consumer: consumer.prefault({}).describe('The consumer and its group.'),
  producer: z
    .strictObject({
      properties: clientProperties('producer').prefault({}).describe('librdkafka properties of the producer.'),
    })
    .prefault({})
    .describe('The producer.'),
  provenance: flag()
    .prefault(false)
    .describe('Adds a `millrace-attempt` header to all that is written. For verification: leave it off otherwise.'),
});

/** Wide enough for a host name. */
export const instanceName = name({ max: 253 });

export const configuration = z.strictObject({
  application: name({ max: 100 }).describe('The first part of consumer groups and transactional ids.'),
  instance: instanceName
    .optional()
    .describe(
      'Tells the processes of one application apart, as a part of transactional ids. By default the host name. It must ' +
        'stay the same over restarts, so that a process finds and ends the transaction that it left open.',
    ),
  kafka: z
    .strictObject({
      bootstrapServers: servers.describe('The brokers to ask first.'),
      properties: clientProperties('both')
        .prefault({})
        .describe('librdkafka properties of all consumers and producers.'),
    })
    .describe('The cluster.'),
  pipelines: z
    .record(name({ max: 100 }), pipeline)
    .refine((pipelines) => Object.keys(pipelines).length > 0)
    .describe('What this process runs, by name.')
    .meta({ allowed: 'a mapping of at least one pipeline', minProperties: 1 }),
  http: z
    .strictObject({
      host: text().prefault('0.0.0.0').describe('The address to listen on.'),
      port: integer({ min: 0, max: 65_535 }).prefault(8080).describe('The port to listen on; 0 takes any free one.'),
    })
    .prefault({})
    .describe('Where `/metrics`, `/live` and `/ready` are served.'),
  log: z
    .strictObject({
      level: choice('debug', 'info', 'warn', 'error').prefault('info').describe('The least severe messages to print.'),
      format: choice('auto', 'json', 'pretty')
        .prefault('auto')
        .describe('`auto`: pretty in a terminal, otherwise JSON.'),
    })
    .prefault({})
    .describe('The log.'),
  shutdown: z
    .strictObject({
      grace: duration({ min: '1s', max: '1h' })
        .prefault('30s')
        .describe('How long a stop may take to finish its transactions and leave its groups, before it is forced.'),
    })
    .prefault({})
    .describe('How the process ends.'),
});

/** The configuration with its defaults, durations in milliseconds and sizes in bytes. */
export type Configuration = z.output<typeof configuration>;
export type Pipeline = Configuration['pipelines'][string];
export type Serde = Pipeline['input']['key'];
