import * as z from 'zod';
import { duration, integer, path, text } from './fields.ts';

const table = (example: string) =>
  text().meta({ allowed: `a table's name as the catalog has it, such as ${example} or a schema and a dot before it` });

const columns = z
  .record(z.string().min(1), text())
  .meta({ allowed: 'a mapping of columns to references, such as { minutes: value.delay }' });

const module = path('./effects/store-delay.ts').optional();

const processedEvents = z.strictObject({
  table: table('processed_events')
    .prefault('processed_events')
    .describe('Where event ids are stored. `millrace effects migrate` creates it.'),
  consumer: text()
    .optional()
    .describe('Whose ids they are. By default `<application>.<name>`. No two effects with one table may share it.'),
  pruneAfter: duration({ min: '1m', max: '87600h' })
    .optional()
    .describe('Ids older than this are deleted. An event that comes again later than that is applied again.'),
  statements: z
    .array(text())
    .min(1)
    .optional()
    .describe('What is done for each event, with references in braces: `{value.delay}`. They become parameters.')
    .meta({ allowed: 'a list of SQL statements' }),
  module: module.describe('What is done for each event, as a module that gets the open database transaction.'),
});

const upsert = z.strictObject({
  table: table('delays').describe('The table with one row a key.'),
  key: columns.describe('The columns of its unique key.'),
  columns: columns.prefault({}).describe('The other columns to write.'),
  version: z
    .strictObject({
      column: text().describe('The column that holds the version.'),
      from: text().describe('A reference to the version of the record.'),
    })
    .optional()
    .describe('Only a newer version changes a row.'),
});

/** A PostgreSQL database as a target. */
export const postgres = z.strictObject({
  url: z
    .string()
    .regex(/^postgres(ql)?:\/\/\S+$/)
    .describe('The database. It may hold a password: give it as `${file:…}`.')
    .meta({ allowed: 'postgres://user:password@host:5432/database?sslmode=…' }),
  connections: integer({ min: 1, max: 1000 }).prefault(4).describe('At most this many at once.'),
  connectTimeout: duration({ min: '1ms', max: '1h' }).prefault('10s').describe('How long connecting may take.'),
  statementTimeout: duration({ min: '1ms', max: '24h' }).prefault('30s').describe('How long a statement may take.'),
  lockTimeout: duration({ min: '1ms', max: '24h' })
    .prefault('10s')
    .describe('How long a statement may wait for a lock. Shorter than statementTimeout.'),
  processedEvents: processedEvents
    .optional()
    .describe('Each event id is stored in the database transaction that does what it causes.'),
  upsert: upsert.optional().describe('One row a key: the last record wins, a tombstone deletes.'),
  module: module.describe('A module that gets the open database transaction and makes repeats harmless itself.'),
});
