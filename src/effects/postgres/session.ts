import type { PoolClient, QueryConfig, QueryResult } from 'pg';

import { EffectFailure } from '../adapter.ts';

/** `name` has the statement prepared once a connection. */
export interface Query {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/**
 * A connection of the pool that is in use. A server that is frozen answers nothing and resets nothing, and its own
 * statement timeout is frozen too: after `patienceMs` without any answer the connection is cut from this side.
 */
export class Session {
  readonly #client: PoolClient;
  readonly #patienceMs: number;
  readonly #failures = new Set<unknown>();

  constructor(client: PoolClient, patienceMs: number) {
    this.#client = client;
    this.#patienceMs = patienceMs;
    client.on('error', ignore);
  }

  /** True while a transaction is open, also one that has failed. */
  get inTransaction(): boolean {
    return this.#client.getTransactionStatus() !== 'I';
  }

  /** True for an error that a query of this session ended with, not one that a module threw between its queries. */
  raised(error: unknown): boolean {
    return this.#failures.has(error);
  }

  /**
   * Sends all of them in one go and waits for all answers. Rejects with what the first that failed says; within a
   * transaction PostgreSQL skips those after it, and a COMMIT among them rolls back.
   */
  async send(queries: readonly Query[]): Promise<QueryResult[]> {
    const watch = setTimeout(() => {
      this.#client.connection.stream.destroy(new Error(`no answer within ${this.#patienceMs} ms`));
    }, this.#patienceMs);
    try {
      const answers = await Promise.allSettled(
        queries.map((query) => this.#client.query(query as QueryConfig).finally(() => watch.refresh())),
      );
      return answers.map((answer) => {
        if (answer.status === 'fulfilled') return answer.value;
        this.#failures.add(answer.reason);
        throw answer.reason;
      });
    } finally {
      clearTimeout(watch);
    }
  }

  /** Sends COMMIT after the given queries, whose results it gives. */
  async commit(before: readonly Query[] = []): Promise<QueryResult[]> {
    const results = await this.send([...before, { text: 'COMMIT' }]);
    // PostgreSQL answers ROLLBACK, and no error, where the error of a failed statement was caught and ignored.
    if (results.pop()?.command !== 'COMMIT') {
      throw new EffectFailure(
        'poison',
        'the database rolled back, because a statement failed and its error was ignored',
      );
    }
    return results;
  }

  /**
   * Gives the connection back to the pool, without the transaction that an error may have left open.
   *
   * @param isDoubtful Ends the connection instead.
   */
  async release(isDoubtful: boolean): Promise<void> {
    let isUseless = isDoubtful;
    try {
      if (!isDoubtful && this.inTransaction) await this.send([{ text: 'ROLLBACK' }]);
    } catch {
      // Told already by the query that failed before it. The end of the connection rolls back too.
      isUseless = true;
    }
    this.#client.off('error', ignore);
    this.#client.release(isUseless);
  }
}

/** A connection that breaks says so twice: to the queries that wait, which is heard, and as an event, which would end the process. */
function ignore(): void {}
