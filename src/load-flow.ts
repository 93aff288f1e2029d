import type { EffectConfig, PipelineConfig, PostgresConfig } from './config/compiled.ts';
import type { Adapter } from './effects/adapter.ts';
import { eventIdFrom } from './effects/event-id.ts';
import { HttpAdapter } from './effects/http/http-adapter.ts';
import { loadEffectModule } from './effects/module.ts';
import type { PostgresEffect } from './effects/postgres/effect.ts';
import { PostgresAdapter } from './effects/postgres/postgres-adapter.ts';
import { readRecord } from './effects/read-record.ts';
import * as millrace from './index.ts';
import type { Logger } from './observability/logger.ts';
import { redactSecrets } from './observability/redact.ts';
import type { RecordTransform } from './pipeline/ports.ts';
import { createPipelineSerdes, createSerde } from './serde/create-serde.ts';
import { compileTransform } from './transform/compile-transform.ts';
import { loadModule } from './transform/load-module.ts';
import { loadTransform } from './transform/load-transform.ts';

/** What an effect says of its target can't be used. The message names the place. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

/** Everything of a pipeline that can be wrong before a broker is asked: its transform and its schemas. */
export async function loadPipeline(config: PipelineConfig, logger: Logger): Promise<RecordTransform> {
  const { input, outputs } = createPipelineSerdes(config);
  const transform = await loadTransform(config.transformPath, { millrace });
  const compiled = compileTransform({ transform, input, outputs, logger });
  const { sourceNames } = config;
  if (Object.keys(sourceNames).length === 0) return compiled;
  return (record, attempt) => compiled({ ...record, topic: sourceNames[record.topic] ?? record.topic }, attempt);
}

/** Everything of an effect that can be wrong before a broker or the target is asked. */
export async function loadEffect(config: EffectConfig, secrets: readonly string[], logger: Logger) {
  const { key, value } = config.input;
  const adapter = await createAdapter(config, secrets, logger);
  const read = readRecord({ key: createSerde(key), value: createSerde(value) }, eventIdFrom(config.eventId));
  return { adapter, read };
}

function createAdapter(
  { name, target }: EffectConfig,
  secrets: readonly string[],
  logger: Logger,
): Promise<Adapter> | Adapter {
  const place = `effects.${name}.${target.type}`;
  switch (target.type) {
    case 'postgres':
      return createPostgresAdapter(target.postgres, place, logger);
    case 'http':
      return usable(() => new HttpAdapter(target.http, { place, redact: redactSecrets(secrets) }));
    case 'module':
      return loadEffectModule(target.path, { millrace }, logger);
  }
}

/** Apart from other adapters because it can also create what it needs. */
export async function createPostgresAdapter(
  config: PostgresConfig,
  place: string,
  logger: Logger,
): Promise<PostgresAdapter> {
  const { write } = config;
  const own = write.type === 'processed-events' ? write.effect : write;
  const effect = own.type === 'module' ? await loadPostgresEffect(own.path) : null;
  const observer = {
    pruned: ({ rows }: { readonly rows: number }) => logger.debug({ rows }, 'processed events pruned'),
    pruneFailed: ({ reason }: { readonly reason: unknown }) =>
      logger.warn({ err: reason }, 'processed events could not be pruned'),
  };
  return usable(() => new PostgresAdapter(config, { place, effect, observer }));
}

function loadPostgresEffect(path: string): Promise<PostgresEffect> {
  return loadModule({
    noun: 'effect',
    path,
    modules: { millrace },
    accepts: (exported): exported is PostgresEffect => typeof exported === 'function',
    wanted: 'a function',
    remedy: 'write `export default async (record, transaction) => …`',
  });
}

function usable<T>(create: () => T): T {
  try {
    return create();
  } catch (cause) {
    throw new TargetError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
