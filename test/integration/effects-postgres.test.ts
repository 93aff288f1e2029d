import { once } from 'node:events';

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import type { EffectFailure, EffectRecord } from '../../src/effects/adapter.ts';
import type { PostgresConfig, PostgresWrite, UpsertConfig } from '../../src/config/compiled.ts';
import type { PostgresEffect } from '../../src/effects/postgres/effect.ts';
import { PostgresAdapter } from '../../src/effects/postgres/postgres-adapter.ts';
import { PoisonRecord } from '../../src/transform/poison-record.ts';
import { RecordHeaders } from '../../src/transform/record-headers.ts';
import { startCuttingProxy } from '../helpers/cutting-proxy.ts';
import { failureOf, saying } from '../helpers/effect-failure.ts';
import { effectRecord } from '../helpers/effect-record.ts';
import { startPostgres, withClient, type Postgres } from '../helpers/postgres.ts';
import { waitFor } from '../helpers/wait.ts';

let postgres: Postgres;
let url: string;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => postgres.remove());

beforeEach(async () => {
  url = await postgres.createDatabase();
  await query('CREATE TABLE delays (id serial, flight text, minutes int, CONSTRAINT late CHECK (minutes >= 0))');
});

const query = (text: string, at = url) =>
  withClient(at, async (client) => (await client.query(text)).rows as unknown[]);
const isSomebodyWaiting = async () => (await query('SELECT FROM pg_locks WHERE NOT granted')).length > 0;
const stored = () => query('SELECT flight, minutes FROM delays ORDER BY id');

const INSERT = 'INSERT INTO delays (flight, minutes) VALUES ({key}, {value.delay})';

function processedEvents(...statements: string[]): PostgresWrite {
  return {
    type: 'processed-events',
    table: 'processed_events',
    consumer: 'test.store-delays',
    pruneAfterMs: null,
    effect: { type: 'statements', statements: statements.length > 0 ? statements : [INSERT] },
  };
}

const withModule: PostgresWrite = {
  ...(processedEvents() as Extract<PostgresWrite, { type: 'processed-events' }>),
  effect: { type: 'module', path: 'given' },
};

interface Given {
  readonly effect?: PostgresEffect;
  readonly config?: Partial<PostgresConfig>;
  readonly pruned?: (rows: number) => void;
}

function create(write: PostgresWrite, { effect, config, pruned }: Given = {}): PostgresAdapter {
  const adapter = new PostgresAdapter(
    {
      url,
      connections: 4,
      connectTimeoutMs: 5_000,
      statementTimeoutMs: 10_000,
      lockTimeoutMs: 5_000,
      write,
      ...config,
    },
    {
      place: 'effects.store-delays.postgres',
      effect: effect ?? null,
      observer: {
        pruned: ({ rows }) => pruned?.(rows),
        pruneFailed: ({ reason }) => expect.fail(`pruning failed: ${String(reason)}`),
      },
    },
  );
  onTestFinished(() => adapter.close());
  return adapter;
}

async function opened(write: PostgresWrite = processedEvents(), given: Given = {}): Promise<PostgresAdapter> {
  const adapter = create(write, given);
  await adapter.migrate();
  await adapter.open();
  return adapter;
}

const delayOf = (flight: string, minutes: unknown, given: Partial<EffectRecord> = {}) =>
  effectRecord({ key: flight, value: { delay: minutes }, ...given });

describe('before the first record', () => {
  it('creates the table of processed events, however often and by how many at once', async () => {
    const adapter = create(processedEvents());
    await Promise.all([adapter.migrate(), adapter.migrate(), create(processedEvents()).migrate()]);
    await adapter.migrate();
    await expect(adapter.open()).resolves.toBeUndefined();
  });

  it('names the command that creates the table where there is none', async () => {
    expect(await failureOf(create(processedEvents()).open())).toMatchObject({
      kind: 'denied',
      message: saying('`millrace effects migrate`'),
    });
  });

  it.each([
    ['on the event id alone', 'event_id text UNIQUE, consumer text'],
    ['on more columns', 'event_id text, consumer text, UNIQUE (consumer, event_id, topic)'],
    ['that is deferred', 'event_id text, consumer text, UNIQUE (consumer, event_id) DEFERRABLE'],
  ])('refuses a table with a unique constraint %s', async (_, columns) => {
    await query(`CREATE TABLE processed_events (topic text, partition int, "offset" bigint, ${columns})`);
    expect(await failureOf(create(processedEvents()).open())).toMatchObject({
      kind: 'denied',
      message: saying('unique constraint on exactly (consumer, event_id)'),
    });
  });

  it("takes a table of one's own, in a schema and with a name that has to be quoted", async () => {
    await query('CREATE SCHEMA "Odd one"');
    const write = { ...processedEvents(), table: 'Odd one.Seen "events"' } as PostgresWrite;
    const adapter = await opened(write);
    const record = delayOf('A', 1);
    expect(await adapter.apply([record])).toEqual(['applied']);
    expect(await adapter.apply([record])).toEqual(['repeat']);
  });

  it.each([
    ['column', 'INSERT INTO delays (flight, minuts) VALUES ({key}, {value.delay})', 'minuts'],
    ['table', 'UPDATE dleays SET minutes = {value.delay}', 'dleays'],
    ['keyword', 'INSERT INTO delays (flight) VALEUS ({key})', 'syntax error'],
  ])('finds a wrong %s in a statement', async (_, statement, named) => {
    const adapter = create(processedEvents(INSERT, statement));
    await adapter.migrate();
    const failure = await failureOf(adapter.open());
    expect(failure.kind).toBe('denied');
    expect(failure.message).toContain('statement 2');
    expect(failure.message).toContain(named);
  });

  it('names the place of a placeholder that means nothing', () => {
    expect(() => create(processedEvents('DELETE FROM delays\nWHERE flight = {vlaue.x}'))).toThrow(
      /^effects\.store-delays\.postgres\.processedEvents\.statements\[0\]: line 2, column 16: unknown reference "vlaue.x"/,
    );
  });

  it('holds everything where the password is wrong, and where the table may not be written', async () => {
    const wrong = create(processedEvents(), { config: { url: url.replace(/:[^:@]*@/, ':wrong@') } });
    expect(await failureOf(wrong.open())).toMatchObject({ kind: 'denied' });

    await create(processedEvents()).migrate();
    await query(
      "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'r'; GRANT SELECT ON processed_events TO reader",
    );
    const reader = create(processedEvents(), { config: { url: url.replace(/\/\/[^@]*@/, '//reader:r@') } });
    expect(await failureOf(reader.open())).toMatchObject({ kind: 'denied' });
    await query('DROP OWNED BY reader; DROP ROLE reader');
  });
});

describe('processed events', () => {
  it('binds what a record has, whatever is in it, and NULL for what it lacks', async () => {
    await query(
      'CREATE TABLE seen (key text, piece text, document jsonb, header text, event text, at timestamptz, lacks text)',
    );
    const adapter = await opened(
      processedEvents(`
        INSERT INTO seen -- {not} a placeholder
        VALUES ({key}, {value.pieces.1}, {value/a.b}::jsonb, {header.trace}, {eventId}, {timestamp}, {value.nothing.here})`),
    );
    const key = `'); DROP TABLE seen; --`;
    await adapter.apply([
      effectRecord({
        key,
        value: { pieces: ['x', '$1 {key} "quoted"'], 'a.b': { list: [1, 2n ** 60n] } },
        headers: RecordHeaders.from({ trace: 'né' }),
        eventId: 'id-1',
      }),
    ]);
    expect(await query('SELECT key, piece, document::text, header, event, at, lacks FROM seen')).toEqual([
      {
        key,
        piece: '$1 {key} "quoted"',
        document: '{"list": [1, 1152921504606846976]}',
        header: 'né',
        event: 'id-1',
        at: new Date(1_700_000_000_000),
        lacks: null,
      },
    ]);
  });

  it('runs nothing for a batch that was committed before', async () => {
    const adapter = await opened();
    const batch = Array.from({ length: 100 }, (_, index) => delayOf(`F${index}`, index));
    expect(new Set(await adapter.apply(batch))).toEqual(new Set(['applied']));
    const another = await opened();
    expect(await another.apply([...batch, delayOf('new', 1)])).toEqual([...batch.map(() => 'repeat'), 'applied']);
    expect(await stored()).toHaveLength(101);
  });

  it('keeps the consumers of one table apart', async () => {
    const record = delayOf('A', 1);
    await (await opened()).apply([record]);
    const other = await opened({ ...processedEvents(), consumer: 'another' } as PostgresWrite);
    expect(await other.apply([record])).toEqual(['applied']);
  });

  it('applies an event id once that is in a batch twice', async () => {
    const adapter = await opened();
    const first = delayOf('A', 1, { eventId: 'same' });
    expect(await adapter.apply([first, delayOf('B', 2), delayOf('C', 3, { eventId: 'same' })])).toEqual([
      'applied',
      'applied',
      'repeat',
    ]);
    expect(await stored()).toEqual([
      { flight: 'A', minutes: 1 },
      { flight: 'B', minutes: 2 },
    ]);
  });

  it('keeps the order of the batch and of its statements', async () => {
    const adapter = await opened(
      processedEvents(INSERT, 'UPDATE delays SET minutes = minutes + 1 WHERE flight = {key}'),
    );
    await adapter.apply(['A', 'B', 'A', 'A'].map((flight) => delayOf(flight, 0)));
    expect(await stored()).toEqual([
      { flight: 'A', minutes: 3 },
      { flight: 'B', minutes: 1 },
      { flight: 'A', minutes: 2 },
      { flight: 'A', minutes: 1 },
    ]);
  });

  it('calls a unique violation of its own table poison, and leaves nothing of the batch', async () => {
    await query('CREATE UNIQUE INDEX one_a_flight ON delays (flight)');
    const adapter = await opened();
    const [good, bad] = [delayOf('B', 2), delayOf('A', 2)];
    await adapter.apply([delayOf('A', 1)]);
    const failure = await failureOf(adapter.apply([good, bad]));
    expect(failure).toMatchObject({ kind: 'poison', message: saying('one_a_flight') });
    expect(failure.message).toContain('23505');
    expect(await stored()).toEqual([{ flight: 'A', minutes: 1 }]);
    // One by one, as it is done after that.
    expect(await adapter.apply([good])).toEqual(['applied']);
    expect(await failureOf(adapter.apply([bad]))).toMatchObject({ kind: 'poison' });
    expect(await query('SELECT count(*)::int AS n FROM processed_events')).toEqual([{ n: 2 }]);
  });

  it.each([
    ['text for a number', 'many', '22P02'],
    ['a value that a check refuses', -1, '23514'],
    ['a number out of range', 1e15, '22003'],
  ])('calls %s poison', async (_, minutes, state) => {
    const failure = await failureOf((await opened()).apply([delayOf('A', minutes)]));
    expect(failure).toMatchObject({ kind: 'poison', message: saying(state) });
  });

  it('calls what is refused only at the COMMIT poison', async () => {
    await query('CREATE TABLE flights (flight text PRIMARY KEY)');
    await query('ALTER TABLE delays ADD FOREIGN KEY (flight) REFERENCES flights DEFERRABLE INITIALLY DEFERRED');
    expect(await failureOf((await opened()).apply([delayOf('A', 1)]))).toMatchObject({ kind: 'poison' });
    expect(await query('SELECT FROM processed_events')).toEqual([]);
  });

  it('finds a repeat where the connection was cut after COMMIT was sent', async () => {
    const proxy = await startCuttingProxy(postgres.port);
    onTestFinished(() => proxy.close());
    const adapter = await opened(processedEvents(), {
      config: { url: url.replace(`:${postgres.port}`, `:${proxy.port}`) },
    });
    const batch = [delayOf('A', 1), delayOf('B', 2)];
    proxy.cutAfter('COMMIT');
    expect(await failureOf(adapter.apply(batch))).toMatchObject({ kind: 'transient' });
    expect(proxy.cuts).toBe(1);
    expect(await stored()).toHaveLength(2);
    expect(await adapter.apply(batch)).toEqual(['repeat', 'repeat']);
    expect(await stored()).toHaveLength(2);
  });

  it('deletes ids that are old enough, and only its own', async () => {
    await create(processedEvents()).migrate();
    await query(`INSERT INTO processed_events
      SELECT consumer, 'old-' || n, now() - interval '2 hours', 't', 0, n
      FROM generate_series(1, 12000) n, unnest(ARRAY['test.store-delays', 'another']) consumer`);
    await query(
      `INSERT INTO processed_events VALUES ('test.store-delays', 'young', now() - interval '50 minutes', 't', 0, 0)`,
    );
    let pruned = 0;
    await opened({ ...processedEvents(), pruneAfterMs: 3_600_000 } as PostgresWrite, {
      pruned: (rows) => (pruned += rows),
    });
    await waitFor('the old ids to be deleted', () => pruned === 12_000, { seen: () => `${pruned} rows` });
    expect(await query('SELECT consumer, count(*)::int AS n FROM processed_events GROUP BY 1 ORDER BY 1')).toEqual([
      { consumer: 'another', n: 12_000 },
      { consumer: 'test.store-delays', n: 1 },
    ]);
  });
});

describe('two instances', () => {
  it('have one effect of each event, in whatever order they have them', async () => {
    const [one, two] = [await opened(), await opened()];
    // Often enough for two batches to meet in the middle.
    for (let round = 1; round <= 20; round += 1) {
      const batch = Array.from({ length: 200 }, (_, index) => delayOf(`F${index}`, index));
      const outcomes = (await Promise.all([one.apply(batch), two.apply(batch.toReversed())])).flat();
      expect(outcomes.filter((outcome) => outcome === 'applied')).toHaveLength(200);
      expect(outcomes.filter((outcome) => outcome === 'repeat')).toHaveLength(200);
      expect(await stored()).toHaveLength(200 * round);
    }
  });

  it('go on where the first one was frozen within its transaction: its connection is cut by the server', async () => {
    const thaw = new AbortController();
    const frozen = await opened(withModule, {
      effect: async ({ key }, transaction) => {
        await transaction.query('INSERT INTO delays (flight, minutes) VALUES ($1, 1)', [key]);
        await once(thaw.signal, 'abort');
      },
      config: { statementTimeoutMs: 500 },
    });
    const record = delayOf('A', 1);
    const late = failureOf(frozen.apply([record]));
    await waitFor(
      'its transaction',
      async () => (await query(`SELECT FROM pg_stat_activity WHERE state = 'idle in transaction'`)).length > 0,
    );
    expect(await (await opened()).apply([record])).toEqual(['applied']);
    thaw.abort();
    expect(await late).toMatchObject({ kind: 'transient' });
    expect(await frozen.apply([record])).toEqual(['repeat']);
    expect(await stored()).toHaveLength(1);
  });
});

describe('what passes by itself', () => {
  const ADD = 'UPDATE delays SET minutes = minutes + {value.delay} WHERE flight = {key}';

  beforeEach(() => query(`INSERT INTO delays (flight, minutes) VALUES ('A', 0), ('B', 0)`));

  it('is a deadlock: the batch as a whole is tried again', async () => {
    await withClient(url, async (other) => {
      // Who asks last looks for deadlocks first, and is the victim: the adapter, as the other one is so slow to look.
      await other.query(`SET deadlock_timeout = '30s'; BEGIN; UPDATE delays SET minutes = 5 WHERE flight = 'B'`);
      let others: Promise<unknown> | undefined;
      const adapter = await opened(withModule, {
        effect: async ({ key }, transaction) => {
          if (key === 'B' && others === undefined) {
            others = other.query(`UPDATE delays SET minutes = 5 WHERE flight = 'A'; COMMIT`);
            await waitFor('the other one to wait for A', isSomebodyWaiting);
          }
          await transaction.query('UPDATE delays SET minutes = minutes + 1 WHERE flight = $1', [key]);
        },
      });
      const batch = [delayOf('A', 1), delayOf('B', 1)];
      expect(await failureOf(adapter.apply(batch))).toMatchObject({ kind: 'transient', message: saying('40P01') });
      await others;
      expect(await adapter.apply(batch)).toEqual(['applied', 'applied']);
    });
    expect(await stored()).toEqual([
      { flight: 'A', minutes: 6 },
      { flight: 'B', minutes: 6 },
    ]);
  });

  it('is a serialization failure', async () => {
    let meddle = true;
    const adapter = await opened(withModule, {
      config: { url: `${url}?options=-c%20default_transaction_isolation%3Dserializable` },
      effect: async (_, transaction) => {
        const { rows } = await transaction.query<{ minutes: number }>(`SELECT minutes FROM delays WHERE flight = 'A'`);
        if (meddle) await query(`UPDATE delays SET minutes = 10 WHERE flight = 'A'`);
        meddle = false;
        await transaction.query(`UPDATE delays SET minutes = $1 WHERE flight = 'A'`, [(rows[0]?.minutes ?? 0) + 1]);
      },
    });
    const record = delayOf('A', 1);
    expect(await failureOf(adapter.apply([record]))).toMatchObject({
      kind: 'transient',
      message: saying('40001'),
    });
    expect(await adapter.apply([record])).toEqual(['applied']);
    expect(await stored()).toContainEqual({ flight: 'A', minutes: 11 });
  });

  it.each([
    ['a lock that is not given in time', { lockTimeoutMs: 200 }, '55P03'],
    ['a statement that takes too long', { statementTimeoutMs: 200 }, '57014'],
  ])('is %s', async (_, config, state) => {
    const adapter = await opened(processedEvents(ADD), { config });
    const record = delayOf('A', 1);
    await withClient(url, async (other) => {
      await other.query('BEGIN; LOCK TABLE delays');
      expect(await failureOf(adapter.apply([record]))).toMatchObject({
        kind: 'transient',
        message: saying(state),
      });
    });
    expect(await adapter.apply([record])).toEqual(['applied']);
  });

  it('is a server that is killed, that is away, and that comes back', async () => {
    const adapter = await opened();
    await adapter.apply([delayOf('C', 1)]);
    await postgres.kill();
    const batch = [delayOf('D', 1)];
    expect(await failureOf(adapter.apply(batch))).toMatchObject({ kind: 'transient' });
    expect(await failureOf(adapter.apply(batch))).toMatchObject({
      kind: 'transient',
      message: saying('ECONNREFUSED'),
    });
    await postgres.start();
    expect(await adapter.apply(batch)).toEqual(['applied']);
  });

  it('is a server that is frozen, on an open connection and on a new one', async () => {
    const adapter = await opened(processedEvents(), { config: { statementTimeoutMs: 100, connectTimeoutMs: 500 } });
    onTestFinished(() => postgres.thaw());
    postgres.freeze();
    expect(await failureOf(adapter.apply([delayOf('C', 1)]))).toMatchObject({
      kind: 'transient',
      message: saying('no answer'),
    });
    expect(await failureOf(adapter.apply([delayOf('C', 1)]))).toMatchObject({ kind: 'transient' });
    postgres.thaw();
    await waitFor(
      'the server to answer',
      async () => (await adapter.apply([delayOf('C', 1)]).catch(() => [])).length === 1,
    );
  });

  it('does not keep anybody from closing, not even a server that is frozen', async () => {
    const adapter = await opened(processedEvents(), { config: { statementTimeoutMs: 600_000 } });
    onTestFinished(() => postgres.thaw());
    postgres.freeze();
    const failure = failureOf(adapter.apply([delayOf('C', 1)]));
    await adapter.close();
    expect(await failure).toMatchObject({ kind: 'transient' });
  });
});

describe('what somebody has to mend', () => {
  it('is a table that is gone: it goes on once the table is back', async () => {
    const adapter = await opened();
    await adapter.apply([delayOf('A', 1)]);
    await query('ALTER TABLE delays RENAME TO elsewhere');
    const record = delayOf('B', 1);
    expect(await failureOf(adapter.apply([record]))).toMatchObject({ kind: 'denied', message: saying('42P01') });
    await query('CREATE TABLE delays (id serial, minutes bigint, flight text)');
    expect(await adapter.apply([record])).toEqual(['applied']);
    expect(await stored()).toEqual([{ flight: 'B', minutes: '1' }]);
  });

  it('is no column that was added: the statement is prepared anew', async () => {
    const adapter = await opened(processedEvents(`${INSERT} RETURNING *`));
    await adapter.apply([delayOf('A', 1)]);
    await query('ALTER TABLE delays ADD COLUMN more text');
    const record = delayOf('B', 1);
    expect(await failureOf(adapter.apply([record]))).toMatchObject({ kind: 'transient', message: saying('0A000') });
    expect(await adapter.apply([record])).toEqual(['applied']);
  });

  it('is not a record that is refused: what comes after it is applied on the same connection', async () => {
    const adapter = await opened(processedEvents(), { config: { connections: 1 } });
    const connection = () =>
      query(
        "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'millrace %' AND datname = current_database()",
      );
    await adapter.apply([delayOf('A', 1)]);
    const before = await connection();
    expect(before).toHaveLength(1);
    expect(await failureOf(adapter.apply([delayOf('B', -1)]))).toMatchObject({ kind: 'poison' });
    expect(await adapter.apply([delayOf('C', 1)])).toEqual(['applied']);
    expect(await connection()).toEqual(before);
  });
});

describe('a module', () => {
  it('writes in the open transaction, and is not called for a repeat', async () => {
    let calls = 0;
    const adapter = await opened(withModule, {
      effect: async ({ key }, transaction) => {
        calls += 1;
        const { rowCount } = await transaction.query('INSERT INTO delays (flight, minutes) VALUES ($1, $2)', [key, 1]);
        expect(rowCount).toBe(1);
      },
    });
    const batch = [delayOf('A', 1), delayOf('B', 1)];
    expect(await adapter.apply(batch)).toEqual(['applied', 'applied']);
    expect(await adapter.apply(batch)).toEqual(['repeat', 'repeat']);
    expect(calls).toBe(2);
  });

  it('leaves nothing behind when it throws, and its error is passed on as it is', async () => {
    const poison = new PoisonRecord('no such flight');
    const adapter = await opened(withModule, {
      effect: async ({ key }, transaction) => {
        await transaction.query('INSERT INTO delays (flight) VALUES ($1)', [key]);
        if (key === 'B') throw poison;
      },
    });
    expect(await failureOf(adapter.apply([delayOf('A', 1), delayOf('B', 1)]))).toBe(poison);
    expect(await stored()).toEqual([]);
    expect(await adapter.apply([delayOf('A', 1)])).toEqual(['applied']);
  });

  it('can not ignore that a statement failed', async () => {
    const adapter = await opened(withModule, {
      effect: async (_, transaction) => {
        await transaction.query('INSERT INTO delays (minutes) VALUES (-1)').catch(() => undefined);
      },
    });
    expect(await failureOf(adapter.apply([delayOf('A', 1)]))).toMatchObject({
      kind: 'poison',
      message: saying('rolled back'),
    });
  });

  it('that ends the transaction, or goes on after it, is told so', async () => {
    const ending = await opened(withModule, {
      effect: async (_, transaction) => {
        await transaction.query('COMMIT');
      },
    });
    expect(await failureOf(ending.apply([delayOf('A', 1)]))).toMatchObject({ kind: 'denied' });

    const committed = new AbortController();
    let late: Promise<EffectFailure> | undefined;
    const hasty = await opened(withModule, {
      effect: async (_, transaction) => {
        late = failureOf(once(committed.signal, 'abort').then(() => transaction.query('SELECT 1')));
      },
    });
    await hasty.apply([delayOf('B', 1)]);
    committed.abort();
    expect(await late).toMatchObject({ message: saying('has ended') });
  });

  it('may do without processed events and say itself what it found', async () => {
    const adapter = await opened(
      { type: 'module', path: 'given' },
      { effect: async ({ key }) => (key === 'old' ? 'stale' : undefined) },
    );
    expect(await adapter.apply([delayOf('old', 1), delayOf('A', 1)])).toEqual(['stale', 'applied']);
  });
});

describe('an upsert', () => {
  const upsert: UpsertConfig = {
    type: 'upsert',
    table: 'latest',
    key: { flight: 'key' },
    columns: { minutes: 'value.delay', more: 'value.more', tags: 'value.tags', bytes: 'value.bytes', at: 'timestamp' },
    version: null,
  };
  beforeEach(() =>
    query(
      'CREATE TABLE latest (flight text PRIMARY KEY, minutes bigint, more jsonb, tags text[], bytes bytea, at timestamptz, version int)',
    ),
  );
  const rows = () => query('SELECT flight, minutes::int, version FROM latest ORDER BY flight');
  const tombstone = (key: string, given: Partial<EffectRecord> = {}) => effectRecord({ key, value: null, ...given });

  it('refuses a table without a unique index on exactly the key', async () => {
    const failure = await failureOf(create({ ...upsert, key: { minutes: 'value.delay' }, columns: {} }).open());
    expect(failure).toMatchObject({ kind: 'denied', message: saying('exactly (minutes)') });
  });

  it.each([
    ['no key', { key: {} }, 'key needs a column'],
    ['a column twice', { columns: { flight: 'value.flight' } }, 'the column flight is set twice'],
    ['a reference that means nothing', { columns: { minutes: 'delay' } }, 'unknown reference "delay"'],
  ])('refuses %s', (_, given, named) => {
    expect(() => create({ ...upsert, ...given })).toThrow(`effects.store-delays.postgres.upsert: ${named}`);
  });

  it('refuses a column that the table does not have', async () => {
    const failure = await failureOf(create({ ...upsert, columns: { minuts: 'value.delay' } }).open());
    expect(failure).toMatchObject({ kind: 'denied', message: saying('minuts') });
  });

  it('reads each value as the type of its column', async () => {
    const adapter = await opened(upsert);
    const value = { delay: 2n ** 60n, more: { a: ['1', null] }, tags: ['x', 'y "z"'], bytes: Buffer.from([0, 255]) };
    await adapter.apply([effectRecord({ key: 'A', value })]);
    expect(await query('SELECT minutes, more, tags, bytes, at FROM latest')).toEqual([
      {
        minutes: String(2n ** 60n),
        more: value.more,
        tags: value.tags,
        bytes: value.bytes,
        at: new Date(1_700_000_000_000),
      },
    ]);
  });

  it('keeps the last record of each key, and deletes on a tombstone', async () => {
    const adapter = await opened(upsert);
    await adapter.apply([delayOf('A', 1), delayOf('B', 1), delayOf('C', 1)]);
    await adapter.apply([
      delayOf('A', 2),
      tombstone('B'),
      delayOf('A', 3),
      tombstone('C'),
      delayOf('C', 4),
      tombstone('D'),
    ]);
    expect(await rows()).toEqual([
      { flight: 'A', minutes: 3, version: null },
      { flight: 'C', minutes: 4, version: null },
    ]);
    const batch = [delayOf('E', 1), tombstone('E'), delayOf('A', 5)];
    await adapter.apply(batch);
    await adapter.apply(batch);
    expect(await rows()).toEqual([
      { flight: 'A', minutes: 5, version: null },
      { flight: 'C', minutes: 4, version: null },
    ]);
  });

  it('needs the key, and calls a record without it poison', async () => {
    const adapter = await opened(upsert);
    expect(await failureOf(adapter.apply([delayOf('A', 1), effectRecord({ key: null })]))).toMatchObject({
      kind: 'poison',
    });
    expect(await rows()).toEqual([]);
  });

  describe('with versions', () => {
    const versioned: UpsertConfig = {
      ...upsert,
      columns: { minutes: 'value.delay' },
      version: { column: 'version', from: 'value.version' },
    };
    const at = (flight: string, version: number, minutes = version) =>
      effectRecord({ key: flight, value: { delay: minutes, version } });

    it('leaves a newer version alone, and counts what is older as stale and what is equal as a repeat', async () => {
      const adapter = await opened(versioned);
      expect(await adapter.apply([at('A', 5)])).toEqual(['applied']);
      expect(await adapter.apply([at('A', 4), at('A', 5, 50), at('B', 1)])).toEqual(['stale', 'repeat', 'applied']);
      expect(await rows()).toEqual([
        { flight: 'A', minutes: 5, version: 5 },
        { flight: 'B', minutes: 1, version: 1 },
      ]);
      expect(await adapter.apply([at('A', 10)])).toEqual(['applied']);
      expect(await rows()).toContainEqual({ flight: 'A', minutes: 10, version: 10 });
    });

    it('judges the records of a batch one after the other', async () => {
      const adapter = await opened(versioned);
      await adapter.apply([at('A', 5)]);
      const batch = [at('A', 4), at('A', 7), at('A', 6), at('A', 7, 70), at('A', 9), at('B', 2), at('B', 1)];
      expect(await adapter.apply(batch)).toEqual([
        'stale',
        'applied',
        'stale',
        'repeat',
        'applied',
        'applied',
        'stale',
      ]);
      expect(await rows()).toEqual([
        { flight: 'A', minutes: 9, version: 9 },
        { flight: 'B', minutes: 2, version: 2 },
      ]);
      expect(await adapter.apply(batch)).toEqual(['stale', 'stale', 'stale', 'stale', 'repeat', 'repeat', 'stale']);
    });

    it('deletes on a newer tombstone only', async () => {
      const adapter = await opened({ ...versioned, version: { column: 'version', from: 'header.version' } });
      const headers = (version: number) => ({ headers: RecordHeaders.from({ version: String(version) }) });
      await adapter.apply([delayOf('A', 1, headers(5)), delayOf('B', 1, headers(5))]);
      expect(
        await adapter.apply([tombstone('A', headers(4)), tombstone('B', headers(6)), delayOf('B', 1, headers(5))]),
      ).toEqual(['stale', 'applied', 'stale']);
      expect(await rows()).toEqual([{ flight: 'A', minutes: 1, version: 5 }]);
      expect(await failureOf(adapter.apply([tombstone('A')]))).toMatchObject({ kind: 'poison' });
    });

    it('takes a row without a version for older than any', async () => {
      await query(`INSERT INTO latest (flight, minutes) VALUES ('A', 1)`);
      expect(await (await opened(versioned)).apply([at('A', 0)])).toEqual(['applied']);
      expect(await rows()).toEqual([{ flight: 'A', minutes: 0, version: 0 }]);
    });

    it('counts an event that two instances insert at once as one applied and one repeat', async () => {
      const [one, two] = [await opened(versioned), await opened(versioned)];
      for (let round = 0; round < 20; round += 1) {
        const batch = Array.from({ length: 5 }, (_, index) => at(`R${round}-${index}`, 1));
        const outcomes = (await Promise.all([one.apply(batch), two.apply(batch.toReversed())])).flat();
        expect(outcomes.toSorted()).toEqual([...Array<string>(5).fill('applied'), ...Array<string>(5).fill('repeat')]);
      }
    });

    it('waits for another instance that has inserted the row and not committed yet', async () => {
      const adapter = await opened(versioned);
      await withClient(url, async (other) => {
        await other.query(`BEGIN; INSERT INTO latest (flight, minutes, version) VALUES ('A', 3, 3)`);
        const outcome = adapter.apply([at('A', 2), at('A', 3)]);
        await waitFor('the adapter to wait', isSomebodyWaiting);
        await other.query('COMMIT');
        expect(await outcome).toEqual(['stale', 'repeat']);
      });
    });
  });
});
