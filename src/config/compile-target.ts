import { resolve } from 'node:path';
import type { EffectConfig, HttpConfig, PostgresConfig, PostgresModuleConfig, PostgresWrite } from './compiled.ts';
import type { Effect } from './spec.ts';

type Postgres = NonNullable<Effect['postgres']>;
type Http = NonNullable<Effect['http']>;

/** The one target of an effect; rules have seen to it that there is one. `consumer` is the default name for its ids. */
export function compileTarget(
  { postgres, http, module }: Effect,
  consumer: string,
  folder: string,
): EffectConfig['target'] {
  if (postgres) return { type: 'postgres', postgres: compilePostgres(postgres, consumer, folder) };
  if (http) return { type: 'http', http: compileHttp(http, folder) };
  return { type: 'module', path: resolve(folder, given(module)) };
}

function compilePostgres(postgres: Postgres, consumer: string, folder: string): PostgresConfig {
  return {
    url: postgres.url,
    connections: postgres.connections,
    connectTimeoutMs: postgres.connectTimeout,
    statementTimeoutMs: postgres.statementTimeout,
    lockTimeoutMs: postgres.lockTimeout,
    write: compileWrite(postgres, consumer, folder),
  };
}

function compileWrite({ processedEvents, upsert, module }: Postgres, consumer: string, folder: string): PostgresWrite {
  const moduleAt = (path: string | undefined): PostgresModuleConfig => ({
    type: 'module',
    path: resolve(folder, given(path)),
  });
  if (processedEvents) {
    const { table, statements, pruneAfter = null } = processedEvents;
    return {
      type: 'processed-events',
      table,
      consumer: processedEvents.consumer ?? consumer,
      pruneAfterMs: pruneAfter,
      effect: statements ? { type: 'statements', statements } : moduleAt(processedEvents.module),
    };
  }
  if (upsert) return { type: 'upsert', ...upsert, version: upsert.version ?? null };
  return moduleAt(module);
}

function compileHttp(http: Http, folder: string): HttpConfig {
  const { url, method, headers, body, timeout, done, connections, bearerToken = null, tls } = http;
  const file = (path: string | undefined) => (path === undefined ? null : resolve(folder, path));
  return {
    url,
    method,
    headers,
    body: body === 'value' || body === 'none' ? { type: body } : { type: 'template', template: body },
    timeoutMs: timeout,
    conflictIsDone: done.includes(409),
    connections,
    bearerToken,
    tls: tls ? { caPath: file(tls.ca), certificatePath: file(tls.certificate), keyPath: file(tls.key) } : null,
  };
}

function given(path: string | undefined): string {
  if (path === undefined) throw new Error('the rules let an effect without a target pass');
  return path;
}
