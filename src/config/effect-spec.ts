import * as z from 'zod';
import { choice, duration, integer, path, text } from './fields.ts';
import { consumer, deadLetter, group, input, onError, producer, retry, transaction } from './flow-spec.ts';
import { postgres } from './postgres-spec.ts';

/** What an effect is: an input, a target outside of Kafka, and what makes a repeat there a no-op. */

const EVENT_ID_FORMS =
  '{ header: <name> }, { key: true }, { pointer: <JSON pointer into the value, such as /order/id> } or { coordinates: true }';

const always = z.literal(true).meta({ allowed: 'true' });

const pointer = z
  .string()
  .regex(/^(\/([^~/]|~[01])*)+$/)
  .meta({ allowed: 'a JSON pointer into the value, such as /order/id' });

const eventId = z
  .union([
    z.strictObject({ header: text() }),
    z.strictObject({ key: always }),
    z.strictObject({ pointer }),
    z.strictObject({ coordinates: always }),
  ])
  .meta({ allowed: EVENT_ID_FORMS });

const tls = z.strictObject({
  ca: path('./ca.pem').optional().describe('Certificates to trust in place of those that Node.js brings.'),
  certificate: path('./client.pem').optional().describe('The certificate to show to the service.'),
  key: path('./client.key').optional().describe('Its private key.'),
});

const http = z.strictObject({
  url: z
    .string()
    .regex(/^https?:\/\/[^{}/?#\s]+([/?#]\S*)?$/)
    .describe('What is called. References in braces are filled in, URL-encoded: `/delays/{key}`.')
    .meta({ allowed: 'an http:// or https:// URL, with no references in its scheme and host' }),
  method: choice('POST', 'PUT', 'PATCH', 'DELETE').prefault('POST').describe('How it is called.'),
  headers: z
    .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/), z.string())
    .prefault({})
    .describe('Headers besides `Idempotency-Key`, which is the event id always.')
    .meta({ allowed: 'a mapping of header names to texts, which may have references in braces' }),
  body: z
    .union([z.enum(['value', 'none']), z.record(z.string(), z.unknown()), z.array(z.unknown())])
    .prefault('value')
    .describe('`value`: the value as JSON. A mapping or a list is a template of such JSON.')
    .meta({ allowed: 'value, none, or a mapping or list whose texts may have references in braces' }),
  timeout: duration({ min: '1ms', max: '1h' })
    .prefault('10s')
    .describe('How long one request may take, to the end of its response.'),
  done: z
    .array(z.literal(409))
    .prefault([])
    .describe('Statuses besides 2xx that say that the effect was done before.')
    .meta({ allowed: '[409] or []' }),
  connections: integer({ min: 1, max: 1000 }).prefault(8).describe('At most this many at once.'),
  bearerToken: text().optional().describe('Sent as `Authorization: Bearer …`. Give it as `${file:…}`.'),
  tls: tls.optional().describe('For https.'),
});

const batch = z.strictObject({
  maxRecords: integer({ min: 1, max: 10_000 })
    .prefault(100)
    .describe(
      'How many records are applied at once. With 1 each record is committed before the next one of its partition begins.',
    ),
  maxWait: duration({ min: '0ms', max: '10m' }).prefault('500ms').describe('How long a batch waits for more records.'),
});

export const effect = z.strictObject({
  group,
  input: input.describe('What is read.'),
  eventId: eventId
    .prefault({ header: 'event-id' })
    .describe(
      'Where the id is that makes a repeat recognisable. Whatever a pipeline writes has it in the header `event-id`.',
    ),
  postgres: postgres.optional().describe('Applies records to a PostgreSQL database.'),
  http: http.optional().describe('Applies records by calls to a service.'),
  module: path('./effects/notify.ts')
    .optional()
    .describe('Applies records by the module whose default export is an effect.'),
  batch: batch.prefault({}).describe('What is applied at once.'),
  concurrency: integer({ min: 1, max: 100 })
    .prefault(1)
    .describe(
      'How many batches of one partition are under way at once. Records with the same key are applied in order all the same.',
    ),
  transaction: transaction
    .pick({ commitInterval: true, timeout: true })
    .prefault({})
    .describe('When offsets are committed of what was applied.'),
  retry: retry
    .prefault({})
    .describe(
      'What is done about a record that fails. What fails because the target can not be reached is tried for as long as ' +
        'it takes; after `attempts` its partition counts as held.',
    ),
  deadLetter: deadLetter
    .optional()
    .describe('Where a record goes that can never be applied. Without it such a record is dealt with by `onError`.'),
  onError,
  consumer: consumer.prefault({}).describe('The consumer and its group.'),
  producer: producer.prefault({}).describe('The producer of dead letters, which also commits the offsets.'),
});
