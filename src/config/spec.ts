import * as z from 'zod';
import { clientProperties } from './client-spec.ts';
import { effect } from './effect-spec.ts';
import { choice, duration, flag, integer, name, path, text, topic } from './fields.ts';
import { sasl, tls } from './security-spec.ts';
import { consumer, deadLetter, group, input, onError, producer, retry, serde, transaction } from './flow-spec.ts';
import { worker } from './worker-spec.ts';

/**
 * The configuration, one spec per field: type, bounds, default and meaning. Parsing, error messages, the JSON Schema
 * and docs/configuration.md all come from here.
 */

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

const pipeline = z.strictObject({
  group,
  workers: integer({ min: 1, max: 1000 })
    .prefault(1)
    .describe(
      'How many processes share out its partitions on this machine, under a supervisor: see workers.md. More than the ' +
        'input has partitions are of no use.',
    ),
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
  onError,
  consumer: consumer.prefault({}).describe('The consumer and its group.'),
  producer: producer.prefault({}).describe('The producer.'),
  provenance: flag()
    .prefault(false)
    .describe(
      'Adds the headers `millrace-source` and `millrace-attempt` to all that is written: which record, and which ' +
        'transaction of which process, it comes from. For verification: leave it off otherwise.',
    ),
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
      tls: tls
        .optional()
        .describe('Encryption, and certificates on one side or both. `tls: {}` trusts what the system trusts.'),
      sasl: sasl.optional().describe('Credentials. Without `tls` they cross the network as they are, or nearly so.'),
      properties: clientProperties('both')
        .prefault({})
        .describe('librdkafka properties of all consumers and producers.'),
    })
    .describe('The cluster.'),
  pipelines: z
    .record(name({ max: 100 }), pipeline)
    .prefault({})
    .describe('Kafka to Kafka, by name.')
    .meta({ allowed: 'a mapping of pipelines by name' }),
  effects: z
    .record(name({ max: 100 }), effect)
    .prefault({})
    .describe('Kafka to databases and services, by name: see effects.md.')
    .meta({ allowed: 'a mapping of effects by name' }),
  worker: worker.prefault({}).describe('The processes that a supervisor runs pipelines and effects in.'),
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
export type Effect = Configuration['effects'][string];
export type Serde = Pipeline['input']['key'];
