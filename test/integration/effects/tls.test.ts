import { expect } from 'vitest';

import { createAuthority } from '../../helpers/authority.ts';
import { startPostgres, withClient } from '../../helpers/postgres.ts';
import { it, type Rig } from '../../helpers/rig.ts';
import { event, startSingleEffect } from '../../helpers/single-effect.ts';

const UPSERT = { table: 'delays', key: { flight: 'key' }, columns: { minutes: 'value.minutes' } };

async function startWithTls(rig: Rig) {
  const authority = createAuthority();
  rig.onEnd(() => {
    authority.remove();
  });
  const postgres = await startPostgres(authority.issue('database'));
  rig.onEnd(() => postgres.remove());
  const plain = await postgres.createDatabase();
  await withClient(plain, (client) => client.query('CREATE TABLE delays (flight text PRIMARY KEY, minutes int)'));
  const trusting = (ca: string) => `${plain}?sslmode=verify-full&sslrootcert=${ca}`;
  return { plain, url: trusting(authority.ca), trusting };
}

it('writes to its database through TLS, with an authority of its own', async ({ rig }) => {
  const { plain, url } = await startWithTls(rig);
  const effect = await startSingleEffect(rig, { postgres: { url, upsert: UPSERT } });
  await effect.send(event('e-1', 'a', { minutes: 3 }));
  await effect.untilCommitted();
  const [encrypted, rows] = await withClient(plain, async (client) => {
    const sessions = await client.query(
      `SELECT bool_and(ssl) AS encrypted FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
       WHERE application_name LIKE 'millrace %'`,
    );
    const delays = await client.query('SELECT * FROM delays');
    return [sessions.rows as unknown[], delays.rows as unknown[]];
  });
  expect(encrypted).toEqual([{ encrypted: true }]);
  expect(rows).toEqual([{ flight: 'a', minutes: 3 }]);
});

it('ends where it does not know the authority of its database, and says what to mend', async ({ rig }) => {
  const { trusting } = await startWithTls(rig);
  const other = createAuthority();
  rig.onEnd(() => {
    other.remove();
  });
  const { processor } = await startSingleEffect(rig, { postgres: { url: trusting(other.ca), upsert: UPSERT } });
  expect((await processor.untilExit()).code).toBe(1);
  expect(processor.lastWords()).toMatch(/effect e: .*certificate is not accepted: .*sslrootcert in the URL/);
});

it('fails to migrate a database that does not answer with exit code 1, naming the effect', async ({ rig }) => {
  const url = 'postgres://nobody@127.0.0.1:1/none';
  const file = await rig.write(
    'm.yaml',
    JSON.stringify({
      application: rig.name,
      kafka: { bootstrapServers: rig.bootstrapServers },
      effects: { e: { input: { topics: ['x'] }, postgres: { url, processedEvents: { statements: ['SELECT 1'] } } } },
    }),
  );
  const command = rig.command('effects', 'migrate', file);
  expect((await command.untilExit()).code).toBe(1);
  expect(command.lastWords()).toMatch(/effect e: connecting to the database: .*ECONNREFUSED/);
});
