import { describe, expect, it } from 'vitest';
import { ConfigFolder, load, problems } from './configuration-file.ts';

/** Seven lines that are right; what is given comes below as lines 8 and on, as fields of the effect. */
const effectWith = (...lines: string[]): string => `application: flights
instance: a
kafka:
  bootstrapServers: localhost:9092
effects:
  tell:
    input: { topics: [delayed] }
${lines.map((line) => `    ${line}\n`).join('')}`;

const HTTP = 'http: { url: https://desk.example/delays }';
const PG = 'postgres: { url: postgres://localhost/x, ';

describe('an effect', () => {
  it('compiles with defaults', () => {
    const [effect] = load(effectWith(HTTP)).effects;
    expect(effect).toMatchObject({
      kind: 'effect',
      name: 'tell',
      groupId: 'flights.tell',
      transactionalId: 'flights.tell.a.0',
      eventId: { from: 'header', header: 'event-id' },
      batch: { maxRecords: 100, maxWaitMs: 500 },
      concurrency: 1,
      transaction: { commitIntervalMs: 100, timeoutMs: 60_000 },
      retry: { attempts: 3 },
      deadLetter: null,
      onError: 'hold',
      patienceMs: 15_000,
    });
    expect(effect?.target).toEqual({
      type: 'http',
      http: {
        url: 'https://desk.example/delays',
        method: 'POST',
        headers: {},
        body: { type: 'value' },
        timeoutMs: 10_000,
        conflictIsDone: false,
        connections: 8,
        bearerToken: null,
        tls: null,
      },
    });
  });

  it('commits record by record without a wait', () => {
    const [effect] = load(effectWith(HTTP, 'batch: { maxRecords: 1 }')).effects;
    expect(effect?.transaction.commitIntervalMs).toBe(0);
  });

  it.each([
    ['{ header: id }', { from: 'header', header: 'id' }],
    ['{ key: true }', { from: 'key' }],
    ['{ pointer: /order/id }', { from: 'value', pointer: '/order/id' }],
    ['{ coordinates: true }', { from: 'coordinates' }],
  ])('finds its event id at %s', (yaml, eventId) => {
    expect(load(effectWith(HTTP, `eventId: ${yaml}`)).effects[0]?.eventId).toEqual(eventId);
  });

  it('compiles each way of writing to Postgres', () => {
    const writeOf = (block: string) => {
      const folder = new ConfigFolder(effectWith(`${PG}${block} }`));
      const target = folder.load().effects[0]?.target;
      return target?.type === 'postgres' ? { folder: folder.path, write: target.postgres.write } : undefined;
    };
    expect(writeOf('processedEvents: { pruneAfter: 720h, statements: [SELECT 1] }')?.write).toEqual({
      type: 'processed-events',
      table: 'processed_events',
      consumer: 'flights.tell',
      pruneAfterMs: 2_592_000_000,
      effect: { type: 'statements', statements: ['SELECT 1'] },
    });
    expect(writeOf('upsert: { table: t, key: { a: key } }')?.write).toEqual({
      type: 'upsert',
      table: 't',
      key: { a: 'key' },
      columns: {},
      version: null,
    });
    const module = writeOf('module: ./m.ts');
    expect(module?.write).toEqual({ type: 'module', path: `${module?.folder}/m.ts` });
  });

  it('keeps its credentials out of messages', () => {
    const config = load(effectWith('postgres: { url: postgres://u:hush@h/x, module: ./m.ts }'));
    expect(config.secrets).toContain('postgres://u:hush@h/x');
    expect(problems(effectWith('postgres: { url: mysql://u:hush@h/x, module: ./m.ts }'))[0]).toMatch(
      /url: found \(hidden\), allowed: postgres:/,
    );
  });
});

describe('an effect that can not be', () => {
  it.each([
    [[], '6:3  effects.tell: needs one of postgres, http or module'],
    [
      [HTTP, 'module: ./m.ts'],
      '9:5  effects.tell.module: must not stand beside http: one of postgres, http or module is needed',
    ],
    [
      ['postgres: { url: postgres://localhost/x }'],
      '8:5  effects.tell.postgres: needs one of processedEvents, upsert or module',
    ],
    [[`${PG}processedEvents: {} }`], '8:46  effects.tell.postgres.processedEvents: needs one of statements or module'],
    [
      ['http: { url: https://x.example, headers: { idempotency-key: a } }'],
      '8:48  effects.tell.http.headers.idempotency-key: can not be set: it is the event id always',
    ],
    [
      [`${PG}lockTimeout: 40s, module: ./m.ts }`],
      '8:59  effects.tell.postgres.lockTimeout: found 40s, must be shorter than statementTimeout, which is 30s',
    ],
    [
      [HTTP, 'deadLetter: { topic: delayed }'],
      '9:26  effects.tell.deadLetter.topic: found delayed, must not be one of input.topics: a dead letter would be read and fail again, for ever',
    ],
    [
      [HTTP, 'eventId: { pointer: order }'],
      '9:25  effects.tell.eventId.pointer: found order, allowed: a JSON pointer into the value, such as /order/id',
    ],
  ])('is refused: %j', (lines, problem) => {
    expect(problems(effectWith(...lines))).toEqual([`flights.yaml:${problem}`]);
  });

  it('has the name of a pipeline', () => {
    const pipelines =
      'pipelines: { tell: { input: { topics: [a] }, transform: ./b.ts, outputs: { b: { topic: b } } } }';
    expect(problems(`${effectWith(HTTP)}${pipelines}\n`)).toEqual([
      'flights.yaml:6:3  effects.tell: must not have the name of a pipeline: groups and transactional ids are made of it',
    ]);
  });

  it('has the group of another', () => {
    expect(problems(`${effectWith(HTTP)}  b: { group: flights.tell, input: { topics: [a] }, ${HTTP} }\n`)).toEqual([
      'flights.yaml:9:15  effects.b.group: found flights.tell, must not have the consumer group of effect "tell": the two would take partitions from each other',
    ]);
  });
});
