import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { startGate } from '../../test/helpers/gate.ts';
import { partitionId } from '../../src/pipeline/ports.ts';
import { headerText, type LogRecord } from '../../src/prove/log-record.ts';
import { startPostgres, withClient } from '../../test/helpers/postgres.ts';
import { type Processor, startProcessor } from '../../test/helpers/processor.ts';
import { startStubService, type StubService } from '../../test/helpers/stub-service.ts';
import { waitFor } from '../../test/helpers/wait.ts';
import { freePorts } from '../broker/ports.ts';
import type { Applied } from './effects-verdict.ts';
import type { KeptBroker } from './kept-broker.ts';
import { keepRunning } from './kept-process.ts';
import type { Witness } from './kills.ts';
import { delayedPartitions, OUTPUTS, readOutputs } from './topics.ts';

export const EFFECTS_CONFIG = 'config/flights-effects.yaml';
const GROUPS = ['flights.store-delays', 'flights.tell-desk'];
/** Batches that the database confirms, and requests that the desk answers, before the kill. */
const CONFIRMED_BATCHES = 10;
const ANSWERED_REQUESTS = 300;
/** Longer than a broker takes to come back, twice in a row. */
const PATIENCE = { timeoutMs: 120_000, everyMs: 20 };
const VICTIM = 'process of the effects';
const root = fileURLToPath(new URL('../..', import.meta.url));

/** What it takes to run config/flights-effects.yaml. */
interface Surroundings {
  readonly broker: KeptBroker;
  readonly witness: Witness;
  readonly database: string;
  readonly desk: StubService;
}

/**
 * Has the delayed flights stored and told to the desk by a process that is killed on the way: the database
 * has committed a batch and the desk has noted flights, but the process has not heard of it and committed no offsets for it.
 * Another one goes on, and must meet the same events again. Whatever somebody else kills meanwhile is started again.
 */
export async function applyEffects(broker: KeptBroker, witness: Witness): Promise<Applied> {
  const outputs = await readOutputs(broker, 'read_committed');
  const delayed = outputs.filter(({ topic }) => topic === OUTPUTS.delayed);
  const postgres = await startPostgres();
  const desk = await startStubService();
  try {
    const database = await postgres.createDatabase();
    const surroundings = { broker, witness, database, desk };
    await prepare(surroundings);
    const before = await applyUntilKilled(surroundings, postgres.port);
    const counts = await applyTheRest(surroundings, delayed);
    return {
      events: delayed.map((record) => headerText(record, 'event-id') ?? ''),
      before,
      ...counts,
      stored: await storedEvents(database),
      requests: desk.requests,
    };
  } finally {
    await desk.close();
    await postgres.remove();
  }
}

async function prepare(surroundings: Surroundings): Promise<void> {
  const tables = readFileSync(new URL('../../config/schemas/delays.sql', import.meta.url), 'utf8');
  await withClient(surroundings.database, (client) => client.query(tables));
  await endsWell(startMillrace(['effects', 'migrate', EFFECTS_CONFIG], surroundings));
}

/** Gives how many events the database has when the process is gone. */
async function applyUntilKilled(surroundings: Surroundings, databasePort: number): Promise<number> {
  const { database, desk, witness } = surroundings;
  const gate = await startGate(databasePort);
  const url = new URL(database);
  url.port = String(gate.port);
  let hasAnswer = false;
  // On whatever connection: one that the process opens anew, as after a kill of the broker, does not get past it either.
  const holdCommits = async (letThrough: number): Promise<void> => {
    await gate.hold('answer', 'COMMIT', letThrough);
    hasAnswer = true;
    await holdCommits(0);
  };
  void holdCommits(CONFIRMED_BATCHES);
  desk.next(...Array.from({ length: ANSWERED_REQUESTS }, () => ({ type: 'apply' }) as const));
  desk.always({ type: 'slow', ms: 2 * PATIENCE.timeoutMs });
  const start = () => startMillrace(['run', EFFECTS_CONFIG], { ...surroundings, database: url.href });
  const millrace = keepRunning(start, VICTIM, witness);
  const patience = { ...PATIENCE, seen: () => millrace.processor.lastWords() };
  try {
    const isCaught = () => {
      millrace.check();
      return hasAnswer && desk.requests.length > ANSWERED_REQUESTS;
    };
    await waitFor('a commit of the database to be held back, and answers of the desk', isCaught, patience);
    // What is held back may be the answer to a statement before the commit: a session that is idle has committed.
    await waitFor('the database to have committed', async () => (await sessions(database, 'busy')) === 0, patience);
  } finally {
    await millrace.kill();
    await gate.close();
  }
  witness.killed({
    victim: VICTIM,
    by: 'the demo',
    moment: "between the database's commit and that of the offsets",
  });
  desk.always({ type: 'apply' });
  await waitFor('the killed process to be gone for the database', async () => (await sessions(database, 'all')) === 0);
  return (await storedEvents(database)).length;
}

async function applyTheRest(surroundings: Surroundings, delayed: readonly LogRecord[]) {
  const { broker, witness } = surroundings;
  const [port] = await freePorts();
  const millrace = keepRunning(() => startMillrace(['run', EFFECTS_CONFIG], surroundings, port), VICTIM, witness);
  const patience = { ...PATIENCE, everyMs: 100, seen: () => millrace.processor.lastWords() };
  const ends = new Map<string, number>();
  for (const record of delayed) ends.set(partitionId(record), record.offset + 1);
  try {
    for (const group of GROUPS) {
      const isDone = async () => {
        millrace.check();
        const committed = await broker.withCluster((cluster) => cluster.committed(group, delayedPartitions));
        return [...ends].every(([partition, end]) => (committed.get(partition) ?? 0) >= end);
      };
      await waitFor(`${group} to commit all delayed flights`, isDone, patience);
    }
    const metrics = await waitFor('its metrics', () => millrace.processor.metrics(), patience);
    const count = (outcome: string) => metrics.sum('millrace_effects_total', { pipeline: 'store-delays', outcome });
    const counts = { after: count('applied'), repeats: count('repeat'), areCounted: millrace.starts === 1 };
    await millrace.stop();
    return counts;
  } finally {
    await millrace.kill();
  }
}

function startMillrace(args: readonly string[], { broker, database, desk }: Surroundings, httpPort?: number) {
  const env = {
    KAFKA_BOOTSTRAP_SERVERS: broker.bootstrapServers,
    DATABASE_URL: database,
    DESK_URL: desk.url,
    MILLRACE_HTTP_PORT: String(httpPort ?? 0),
  };
  return startProcessor({ args, cwd: root, env, ...(httpPort === undefined ? {} : { httpPort }) });
}

async function endsWell(processor: Processor): Promise<void> {
  const { code } = await processor.untilExit(PATIENCE);
  if (code !== 0) throw new Error(`it did not end well\n${processor.lastWords()}`);
}

/** The event ids in the table, in no order. */
async function storedEvents(database: string): Promise<string[]> {
  const { rows } = await withClient(database, (client) =>
    client.query<{ id: string }>('SELECT event_id AS id FROM delays'),
  );
  return rows.map(({ id }) => id);
}

/** How many others have a session, or do something in theirs. */
async function sessions(database: string, which: 'all' | 'busy'): Promise<number> {
  const { rows } = await withClient(database, (client) =>
    client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND ($1 = 'all' OR state <> 'idle')`,
      [which],
    ),
  );
  return rows[0]?.count ?? NaN;
}
