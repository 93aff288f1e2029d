import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { type Postgres, withClient } from '../test/helpers/postgres.ts';
import { type Contender, start } from './contender.ts';
import type { Input } from './preload.ts';
import type { Rig } from './rig.ts';
import { Tally } from './tally.ts';
import { type Throughput, untilCommitted } from './throughput.ts';

const CONFIG = fileURLToPath(new URL('product/effects.yaml', import.meta.url));

/** A repeat would be a second row. The database's clock in each row, as it is stored, tells how long it all took. */
const TABLE = `
  CREATE TABLE orders (
    id text NOT NULL, customer text NOT NULL, status text NOT NULL, stored_at timestamptz DEFAULT clock_timestamp()
  )`;

interface Stored {
  readonly id: string;
  readonly customer: string;
  readonly status: string;
  /** Ms since the epoch. */
  readonly at: number;
}

/** One process stores the whole input, under a group of its own, in a database of its own. */
export async function measureEffects(
  rig: Rig,
  postgres: Postgres,
  contender: Contender,
  input: Input,
  run: string,
): Promise<Throughput> {
  const { bootstrapServers, cluster, millrace } = rig;
  const { workload, topic, records, expected } = input;
  const database = await postgres.createDatabase();
  const group = `group-${run}`;
  await withClient(database, (client) => client.query(TABLE));
  await migrate(millrace, database);
  const running = start(contender, { workload, bootstrapServers, input: topic, output: '', group, database }, millrace);
  try {
    await untilCommitted(cluster, running, group, input);
  } finally {
    await running.stop();
  }
  const tally = new Tally();
  let firstAt = Infinity;
  let lastAt = -Infinity;
  for (const { id, customer, status, at } of await storedIn(database)) {
    tally.add(Buffer.from(id), Buffer.from(`${customer} ${status}`));
    firstAt = Math.min(firstAt, at);
    lastAt = Math.max(lastAt, at);
  }
  await withClient(postgres.url(), (client) => client.query(`DROP DATABASE ${new URL(database).pathname.slice(1)}`));
  return {
    recordsPerSecond: (records / (lastAt - firstAt)) * 1_000,
    cpuMicrosPerRecord: (running.usage.cpuSeconds(firstAt, lastAt) / records) * 1e6,
    peakBytes: running.usage.peakBytes,
    wrong: expected.differenceTo(tally),
  };
}

/** Both loops use the table that Millrace creates. */
async function migrate(millrace: string, database: string): Promise<void> {
  const env = { BENCH_BROKER: 'localhost:9092', BENCH_GROUP: 'none', BENCH_INPUT: 'none', BENCH_DATABASE: database };
  await promisify(execFile)(process.execPath, [millrace, 'effects', 'migrate', CONFIG], {
    env: { ...process.env, ...env },
  });
}

async function storedIn(database: string): Promise<readonly Stored[]> {
  const { rows } = await withClient(database, (client) =>
    client.query<Stored>(
      'SELECT id, customer, status, (extract(epoch FROM stored_at) * 1000)::float8 AS at FROM orders',
    ),
  );
  return rows;
}
