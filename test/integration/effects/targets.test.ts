import { describe, expect } from 'vitest';

import type { LogRecord } from '../../../src/prove/log-record.ts';
import { withClient } from '../../helpers/postgres.ts';
import { event, startSingleEffect } from '../../helpers/single-effect.ts';
import { startStubService } from '../../helpers/stub-service.ts';
import { withPostgres } from '../../helpers/with-postgres.ts';

const it = withPostgres();

const header = ({ headers }: LogRecord | undefined = { headers: [] } as never, name: string) =>
  headers.find(([each]) => each === name)?.[1].toString();

describe('X9: a service', () => {
  it('is called with one idempotency key whatever it does, until it has confirmed', async ({ rig }) => {
    const service = await startStubService();
    rig.onEnd(() => service.close());
    service.next(
      { type: 'apply-then-reset' },
      { type: 'answer', status: 500 },
      { type: 'answer', status: 429, headers: { 'retry-after': '1' } },
      { type: 'conflict-on-repeat' },
    );
    const effect = await startSingleEffect(rig, { http: { url: `${service.url}/delays/{key}`, done: [409] } });
    await effect.send(event('e-1', 'AA 1', { minutes: 20 }));
    await effect.untilCommitted();
    expect(service.requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual(Array(4).fill('e-1'));
    expect(service.requests[0]).toMatchObject({ method: 'POST', url: '/delays/AA%201', body: '{"minutes":20}' });
    expect([...service.effects.keys()]).toEqual(['e-1']);
    const metrics = await effect.processor.metrics();
    expect(metrics?.sum('millrace_effects_total', { outcome: 'repeat' })).toBe(1);
    expect(metrics?.sum('millrace_records_retried_total')).toBe(3);
  });

  it('has refused records dead-lettered with its answer, and the others go on', async ({ rig }) => {
    const service = await startStubService();
    rig.onEnd(() => service.close());
    service.next({ type: 'answer', status: 422, body: 'no such flight' });
    const effect = await startSingleEffect(rig, { http: { url: service.url } });
    await effect.send(event('e-1', 'a', {}), event('e-2', 'b', {}));
    await effect.untilCommitted();
    const letters = await effect.deadLetters();
    expect(letters.map((letter) => header(letter, 'event-id'))).toEqual(['e-1']);
    expect(header(letters[0], '__millrace.errors.message')).toMatch(/422.*no such flight/s);
    expect([...service.effects.keys()]).toEqual(['e-2']);
  });

  it('holds the partition where it denies the credential, and is tried again', async ({ rig }) => {
    const service = await startStubService();
    rig.onEnd(() => service.close());
    service.always({ type: 'answer', status: 401 });
    await rig.write('token', 'a-token-of-its-own\n');
    const http = { url: service.url, bearerToken: '${file:token}' };
    const effect = await startSingleEffect(rig, { http });
    await effect.send(event('e-1', 'a', {}));
    await effect.processor.until('readiness to turn false and say why', async () =>
      /held at offset 0: .*401/.test((await effect.processor.readiness())?.body ?? ''),
    );
    expect(effect.processor.log.join('\n')).not.toContain('a-token-of-its-own');
    service.always({ type: 'apply' });
    await effect.untilCommitted();
    await effect.processor.untilReady();
    expect(await effect.deadLetters()).toEqual([]);
    expect(service.requests.at(-1)?.headers.authorization).toBe('Bearer a-token-of-its-own');
  });
});

it('X7: an older version after a newer one changes nothing and counts as stale', async ({ rig, postgres }) => {
  const url = await postgres.createDatabase();
  await withClient(url, (client) =>
    client.query('CREATE TABLE delays (flight text PRIMARY KEY, minutes int, version int)'),
  );
  const upsert = {
    table: 'delays',
    key: { flight: 'key' },
    columns: { minutes: 'value.minutes' },
    version: { column: 'version', from: 'value.version' },
  };
  const effect = await startSingleEffect(rig, { postgres: { url, upsert } });
  await effect.send(
    event('e-1', 'a', { minutes: 1, version: 1 }),
    event('e-2', 'a', { minutes: 3, version: 3 }),
    event('e-3', 'a', { minutes: 2, version: 2 }),
  );
  await effect.untilCommitted();
  const rows = () => withClient(url, async (client) => (await client.query('SELECT * FROM delays')).rows as unknown[]);
  expect(await rows()).toEqual([{ flight: 'a', minutes: 3, version: 3 }]);
  const metrics = await effect.processor.metrics();
  expect(metrics?.sum('millrace_effects_total', { outcome: 'stale' })).toBe(1);
});

it('X6: one event id twice in a batch has one effect', async ({ rig, postgres }) => {
  const url = await postgres.createDatabase();
  await withClient(url, (client) => client.query('CREATE TABLE done (id text)'));
  const processedEvents = { statements: ['INSERT INTO done VALUES ({eventId})'] };
  const file = await rig.write(
    'm.yaml',
    JSON.stringify({
      application: rig.name,
      kafka: { bootstrapServers: rig.bootstrapServers },
      effects: { e: { input: { topics: ['x'] }, postgres: { url, processedEvents } } },
    }),
  );
  expect((await rig.command('effects', 'migrate', file).untilExit()).code).toBe(0);
  const effect = await startSingleEffect(rig, { postgres: { url, processedEvents } });
  await effect.send(event('e-1', 'a', {}), event('e-1', 'a', {}), event('e-2', 'a', {}));
  await effect.untilCommitted();
  const ids = await withClient(
    url,
    async (client) => (await client.query('SELECT id FROM done ORDER BY id')).rows as unknown[],
  );
  expect(ids).toEqual([{ id: 'e-1' }, { id: 'e-2' }]);
});

it('refuses to start without the table of processed events, and says how to make it', async ({ rig, postgres }) => {
  const url = await postgres.createDatabase();
  await withClient(url, (client) => client.query('CREATE TABLE done (id text)'));
  const processedEvents = { statements: ['INSERT INTO done VALUES ({eventId})'] };
  const { processor } = await startSingleEffect(rig, { postgres: { url, processedEvents } });
  expect((await processor.untilExit()).code).toBe(1);
  expect(processor.lastWords()).toMatch(/effect e: .*millrace effects migrate/);
});

it('runs an effect of a module, single or in batches, and tells it of tries before', async ({ rig }) => {
  await rig.write(
    'effect.ts',
    `import { defineEffect, EffectFailure, PoisonRecord } from 'millrace';
     let isOpen = false;
     export default defineEffect<{ n: number }>({
       open: ({ logger }) => { isOpen = true; logger.info('opened'); },
       applyBatch: (events) => {
         if (!isOpen) throw new Error('not open');
         for (const { value, attempt, redelivered } of events) {
           if (value.n === 1 && attempt < 3) throw new EffectFailure('transient', 'try ' + attempt + ' ' + redelivered);
           if (value.n === 2) throw new PoisonRecord('two is poison');
         }
         return events.map(({ value }) => (value.n === 3 ? 'repeat' : 'applied'));
       },
       close: () => console.log('closed'),
     });`,
  );
  const effect = await startSingleEffect(rig, { module: './effect.ts' });
  await effect.processor.untilReady();
  await effect.send(...[1, 2, 3, 4].map((n) => event(`e-${n}`, 'a', { n })));
  await effect.untilCommitted();
  const letters = await effect.deadLetters();
  expect(letters.map((letter) => header(letter, 'event-id'))).toEqual(['e-2']);
  const metrics = await effect.processor.metrics();
  expect(metrics?.sum('millrace_effects_total', { outcome: 'applied' })).toBe(2);
  expect(metrics?.sum('millrace_effects_total', { outcome: 'repeat' })).toBe(1);
  expect(effect.processor.log.some((line) => line.includes('try 1 false'))).toBe(true);
  effect.processor.signal('SIGTERM');
  expect((await effect.processor.untilExit()).code).toBe(0);
  expect(effect.processor.log).toContain('closed');
});

it('dead-letters a record without an event id', async ({ rig }) => {
  await rig.write('effect.ts', `export default { apply: () => undefined };`);
  const effect = await startSingleEffect(rig, { module: './effect.ts', eventId: { pointer: '/order/id' } });
  await effect.send(event('x', 'a', { order: {} }), event('x', 'a', { order: { id: 7 } }));
  await effect.untilCommitted();
  const [letter, ...others] = await effect.deadLetters();
  expect(others).toEqual([]);
  expect(header(letter, '__millrace.errors.exception')).toBe('MissingEventId');
  expect(header(letter, '__millrace.errors.message')).toMatch(/no event id.*\/order\/id/);
});
