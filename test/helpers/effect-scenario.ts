import { expect } from 'vitest';

import { partitionId } from '../../src/pipeline/ports.ts';
import type { LogRecord, Partition } from '../../src/prove/log-record.ts';
import { withClient } from './postgres.ts';
import type { Processor } from './processor.ts';
import { readSettled } from './read-settled.ts';
import type { Rig } from './rig.ts';
import { startSeeder, type Seed, type Seeder } from './seeder.ts';
import { waitFor } from './wait.ts';

const EFFECT = 'e';
const KEYS = 12;
const REPEATED = 9;
const POISON = 17;
const PATIENCE_MS = 90_000;
/** For each record of a backlog on top; generous, for a busy machine. */
const PATIENCE_PER_RECORD_MS = 10;

export interface EffectScenarioOptions {
  readonly partitions?: number;
  /** The database as the test reads it, and as the effect does, maybe through something in between. */
  readonly database: string;
  readonly throughPort?: number;
  /** Fields of the effect, on top of the tests' own. */
  readonly effect?: Readonly<Record<string, unknown>>;
  /** Fields beside the effects. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** One effect from a topic to a table, the processes that run it, and what it must have done in the end. */
export interface EffectScenario {
  readonly seeder: Seeder;
  start(instance: string): Promise<Processor>;
  startReady(instance: string): Promise<Processor>;
  /** So many records in all. */
  untilCommitted(records: number): Promise<void>;
  /** Rows that the effect has written. */
  rows(): Promise<number>;
  hasOpenTransaction(): Promise<boolean>;
  /** Ids of events that stand in the table although the group has not committed a record of theirs. */
  uncommittedRows(): Promise<string[]>;
  /** Waits until all input is committed, and holds the table against the input: invariant I8. */
  judge(): Promise<void>;
}

/** Numbered events: some come twice, some break a constraint of the table. */
export function events(): () => Seed {
  let id = 0;
  let repeat: Seed | null = null;
  return () => {
    if (repeat) {
      const seed = repeat;
      repeat = null;
      return seed;
    }
    id++;
    const seed: Seed = {
      key: Buffer.from(`key-${(id * 5) % KEYS}`),
      value: Buffer.from(JSON.stringify({ id, minutes: id % 40 === POISON ? -1 : id % 60 })),
      headers: [{ 'event-id': Buffer.from(`event-${id}`) }],
    };
    if (id % 20 === REPEATED) repeat = seed;
    return seed;
  };
}

/** The table has no constraint that would hide an effect that was applied twice. */
const TABLES = `
  CREATE TABLE applied (place bigserial PRIMARY KEY, event_id text, key text, id int, minutes int CHECK (minutes >= 0));
  CREATE TABLE totals (key text PRIMARY KEY, minutes int NOT NULL);
`;

const STATEMENTS = [
  'INSERT INTO applied (event_id, key, id, minutes) VALUES ({eventId}, {key}, {value.id}, {value.minutes})',
  `INSERT INTO totals VALUES ({key}, {value.minutes})
   ON CONFLICT (key) DO UPDATE SET minutes = totals.minutes + excluded.minutes`,
];

export async function startEffectScenario(rig: Rig, options: EffectScenarioOptions): Promise<EffectScenario> {
  const { partitions = 2, database, throughPort } = options;
  const { cluster, bootstrapServers, name } = rig;
  const input = await rig.topic('in', partitions);
  const deadLetters = await rig.topic('dead', 1);
  const inputPartitions = partitionsOf(input, partitions);
  const url = new URL(database);
  if (throughPort !== undefined) url.port = String(throughPort);
  await withClient(database, (client) => client.query(TABLES));
  const config = {
    application: name,
    kafka: { bootstrapServers },
    effects: {
      [EFFECT]: {
        input: { topics: [input], key: 'string', value: 'json' },
        postgres: { url: url.href, processedEvents: { statements: STATEMENTS } },
        batch: { maxRecords: 20, maxWait: '50ms' },
        transaction: { commitInterval: '100ms', timeout: '10s' },
        retry: { attempts: 3, minDelay: '50ms', maxDelay: '500ms' },
        deadLetter: { topic: deadLetters },
        consumer: { sessionTimeout: '6s', properties: { 'heartbeat.interval.ms': 500 } },
        ...options.effect,
      },
    },
    ...options.config,
  };
  const file = await rig.write('migrate.yaml', JSON.stringify({ instance: 'm', ...config }));
  expect((await rig.command('effects', 'migrate', file).untilExit()).code).toBe(0);
  const seeder = await startSeeder(bootstrapServers, input);
  rig.onEnd(() => seeder.close());
  const group = `${name}.${EFFECT}`;
  const processors: Processor[] = [];
  const lastWords = () => processors.map((processor) => processor.lastWords()).join('\n');
  const committed = () => cluster.committed(group, inputPartitions);

  async function start(instance: string): Promise<Processor> {
    const processor = await rig.run(instance, config);
    processors.push(processor);
    return processor;
  }

  return {
    seeder,
    start,
    async startReady(instance) {
      const processor = await start(instance);
      await processor.untilReady({ timeoutMs: PATIENCE_MS });
      return processor;
    },
    async untilCommitted(records) {
      await waitFor(
        `${records} committed records`,
        async () => [...(await committed()).values()].reduce((sum, offset) => sum + offset, 0) >= records,
        { timeoutMs: PATIENCE_MS, seen: lastWords },
      );
    },
    rows: () =>
      withClient(database, async (client) => {
        const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM applied');
        return Number(rows[0]?.count);
      }),
    async hasOpenTransaction() {
      return (await cluster.transactions()).some(
        ({ transactionalId, state }) => transactionalId.startsWith(`${group}.`) && /^(Ongoing|Prepare)/.test(state),
      );
    },
    async uncommittedRows() {
      const offsets = await committed();
      const all = await readSettled(rig, inputPartitions);
      const isCommitted = (record: LogRecord) => record.offset < (offsets.get(partitionId(record)) ?? 0);
      const done = new Set(all.filter(isCommitted).map(eventIdOf));
      return withClient(database, async (client) => {
        const { rows } = await client.query<{ event_id: string }>('SELECT event_id FROM applied');
        return rows.map(({ event_id: eventId }) => eventId).filter((eventId) => !done.has(eventId));
      });
    },
    async judge() {
      const ends = seeder.ends();
      let found = await committed();
      const lags = () => [...ends].map(([partition, end]) => end - (found.get(partition) ?? 0));
      const backlog = lags().reduce((sum, lag) => sum + lag, 0);
      await waitFor(
        `the group to commit all input, ${backlog} records`,
        async () => {
          found = await committed();
          return lags().every((lag) => lag <= 0);
        },
        {
          timeoutMs: PATIENCE_MS + backlog * PATIENCE_PER_RECORD_MS,
          seen: () => `left: ${lags().join(', ')}\n${lastWords()}`,
        },
      );
      console.info(`caught up with ${backlog} records`);
      const all = await readSettled(rig, inputPartitions);
      const letters = await readSettled(rig, partitionsOf(deadLetters, 1));
      await assertEffects(database, group, all, letters);
    },
  };
}

async function assertEffects(
  database: string,
  consumer: string,
  sources: readonly LogRecord[],
  letters: readonly LogRecord[],
): Promise<void> {
  const expected = new Map<string, { key: string; id: number; minutes: number }>();
  const poison: string[] = [];
  for (const source of sources) {
    const { key, value } = source;
    const eventId = eventIdOf(source);
    const { id, minutes } = JSON.parse(String(value)) as { id: number; minutes: number };
    if (minutes < 0) poison.push(eventId);
    else expected.set(eventId, { key: String(key), id, minutes });
  }
  const totals: Record<string, number> = {};
  for (const { key, minutes } of expected.values()) totals[key] = (totals[key] ?? 0) + minutes;

  await withClient(database, async (client) => {
    type Row = { event_id: string; key: string; id: number; minutes: number };
    const { rows } = await client.query<Row>('SELECT event_id, key, id, minutes FROM applied ORDER BY place');
    const found = rows.map(({ event_id: eventId, ...row }) => [eventId, row] as const);
    expect(found.toSorted(byId)).toEqual([...expected].toSorted(byId));
    const lastOf = new Map<string, number>();
    for (const { key, id } of rows) {
      expect(id, `order of ${key}`).toBeGreaterThan(lastOf.get(key) ?? 0);
      lastOf.set(key, id);
    }
    const sums = await client.query<{ key: string; minutes: number }>('SELECT key, minutes FROM totals');
    expect(Object.fromEntries(sums.rows.map(({ key, minutes }) => [key, minutes]))).toEqual(totals);
    const ids = await client.query<{ event_id: string }>('SELECT event_id FROM processed_events WHERE consumer = $1', [
      consumer,
    ]);
    expect(ids.rows.map(({ event_id: eventId }) => eventId).toSorted()).toEqual([...expected.keys()].toSorted());
  });
  const dead = letters.map(eventIdOf);
  expect(dead.toSorted()).toEqual(poison.toSorted());
}

const eventIdOf = ({ headers }: LogRecord): string =>
  headers.find(([header]) => header === 'event-id')?.[1].toString() ?? '';

const byId = ([, a]: readonly [string, { id: number }], [, b]: readonly [string, { id: number }]) => a.id - b.id;

const partitionsOf = (topic: string, count: number): Partition[] =>
  Array.from({ length: count }, (_, partition) => ({ topic, partition }));
