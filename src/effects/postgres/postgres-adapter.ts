import { Client, Pool, type PoolClient } from 'pg';

import type { Adapter, Applied, EffectRecord } from '../adapter.ts';
import { inPlace } from '../reference.ts';
import type { PostgresConfig } from '../../config/compiled.ts';
import { ModuleWrite, type PostgresEffect } from './effect.ts';
import { ProcessedEvents } from './processed-events.ts';
import { Pruning, type PruneObserver } from './pruning.ts';
import { Session } from './session.ts';
import { databaseFailure } from './sqlstate.ts';
import { compileStatement, type Statement } from './statement.ts';
import { Upsert } from './upsert.ts';
import type { Write } from './write.ts';

export interface PostgresOptions {
  /** Where the configuration comes from, for messages: `effects.store-delays.postgres`. */
  readonly place: string;
  /** What the configured module exports; null where there is none. */
  readonly effect: PostgresEffect | null;
  readonly observer: PruneObserver;
}

/** Longer than the server's own timeout, which says more. */
const GRACE_MS = 2_000;

/** Applies each batch in one database transaction. Several batches at once take a connection each. */
export class PostgresAdapter implements Adapter {
  readonly #pool: Pool;
  readonly #clients = new Set<PoolClient>();
  readonly #patienceMs: number;
  readonly #write: Write;
  readonly #pruning: Pruning | null;
  #closed: Promise<void> | undefined;

  /** Throws an `Error` that names the place when a statement, a reference or the URL can't be understood. */
  constructor(config: PostgresConfig, { place, effect, observer }: PostgresOptions) {
    this.#patienceMs = config.statementTimeoutMs + GRACE_MS;
    this.#pool = createPool(config, place);
    this.#pool.on('connect', (client) => void this.#clients.add(client));
    this.#pool.on('remove', (client) => void this.#clients.delete(client));
    this.#write = createWrite(config.write, place, effect);
    const { write } = config;
    this.#pruning =
      write.type === 'processed-events' && write.pruneAfterMs !== null && this.#write instanceof ProcessedEvents
        ? new Pruning(this.#write, write.pruneAfterMs, (work) => this.#withSession('pruning', work), observer)
        : null;
  }

  /** Creates what the configuration needs and the database lacks; what is there is left as it is. */
  async migrate(): Promise<void> {
    await this.#withSession('migrating', async (session) => {
      await session.send([{ text: 'BEGIN' }]);
      await session.commit(this.#write.migrations);
    });
  }

  async open(): Promise<void> {
    await this.#withSession('checking the database', (session) => this.#write.check(session));
    this.#pruning?.start();
  }

  async apply(batch: readonly EffectRecord[]): Promise<readonly Applied[]> {
    const doing = batch.length === 1 ? 'applying a record' : `applying ${batch.length} records`;
    return this.#withSession(doing, (session) => this.#write.apply(session, batch));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // Asked to end, a server that is frozen says nothing; and what is still under way then is given up.
    setTimeout(() => {
      for (const client of this.#clients) client.connection.stream.destroy();
    }, GRACE_MS).unref();
    await this.#pruning?.stop();
    await this.#pool.end();
  }

  async #withSession<T>(doing: string, work: (session: Session) => Promise<T>): Promise<T> {
    let session: Session;
    try {
      session = new Session(await this.#pool.connect(), this.#patienceMs);
    } catch (error) {
      throw databaseFailure(error, 'connecting to the database');
    }
    // A connection keeps its prepared statements, which a changed schema breaks: after anything that is not a record's
    // own fault the next try gets a new one.
    let isDoubtful = false;
    try {
      return await work(session);
    } catch (error) {
      if (!session.raised(error)) throw error;
      const failure = databaseFailure(error, doing);
      isDoubtful = failure.kind !== 'poison';
      throw failure;
    } finally {
      await session.release(isDoubtful);
    }
  }
}

function createPool(config: PostgresConfig, place: string): Pool {
  const options = {
    connectionString: config.url,
    connectionTimeoutMillis: config.connectTimeoutMs,
    statement_timeout: config.statementTimeoutMs,
    lock_timeout: config.lockTimeoutMs,
    // An instance that was frozen in mid-transaction must not keep its locks from the one that took over.
    idle_in_transaction_session_timeout: config.statementTimeoutMs,
    application_name: `millrace ${place}`,
    keepAlive: true,
    pipeline: true,
  };
  try {
    // Reads the URL and the certificate files that it names, and connects to nothing.
    new Client(options);
  } catch (error) {
    const missing = error instanceof Error && 'path' in error ? `: can not read ${String(error.path)}` : '';
    throw new Error(
      `${place}.url is no connection string such as postgres://user:password@host:5432/database${missing}`,
      {
        cause: error,
      },
    );
  }
  const pool = new Pool({ ...options, max: config.connections });
  // An idle connection was cut: the pool has dropped it already, and the next query gets a new one or says why not.
  pool.on('error', () => undefined);
  return pool;
}

function createWrite(write: PostgresConfig['write'], place: string, effect: PostgresEffect | null): Write {
  if (write.type === 'upsert') return inPlace(`${place}.upsert`, () => new Upsert(write));
  if (write.type === 'module') return new ModuleWrite(loaded(effect, place));
  const own = write.effect;
  if (own.type === 'module') return new ProcessedEvents(write, loaded(effect, place));
  return new ProcessedEvents(write, compileStatements(own.statements, `${place}.processedEvents.statements`));
}

function compileStatements(statements: readonly string[], place: string): readonly Statement[] {
  return statements.map((sql, index) => inPlace(`${place}[${index}]`, () => compileStatement(sql)));
}

function loaded(effect: PostgresEffect | null, place: string): PostgresEffect {
  if (effect === null) throw new Error(`${place}: the module was not loaded`);
  return effect;
}
