import { setTimeout as delay } from 'node:timers/promises';
import type { CompiledConfig } from './config/compiled.ts';
import { createEffect, createPipeline } from './create-processor.ts';
import { serveHttp } from './observability/http.ts';
import { createLogger } from './observability/logger.ts';
import { createMetrics } from './observability/metrics.ts';
import { redactSecrets } from './observability/redact.ts';
import { PipelineFailed } from './pipeline/errors.ts';
import type { Processor } from './pipeline/processor.ts';

/** How long the HTTP endpoints may take to close. */
const HTTP_CLOSE_MS = 1_000;

/** Runs the pipelines and effects until a signal or a failure; returns the exit code. */
export async function run(config: CompiledConfig, names: readonly string[], version: string): Promise<number> {
  const logger = createLogger(config);
  const processors: Processor[] = [];
  const statuses = () => processors.map((processor) => processor.status());
  const metrics = createMetrics(version, statuses);
  const around = { config, metrics, logger };
  const isWanted = ({ name }: { readonly name: string }) => names.length === 0 || names.includes(name);
  for (const pipeline of config.pipelines.filter(isWanted)) processors.push(await createPipeline(pipeline, around));
  for (const effect of config.effects.filter(isWanted)) processors.push(await createEffect(effect, around));
  const redact = redactSecrets(config.secrets);
  const http = await serveHttp(config.http, { metrics: () => metrics.registry.metrics(), statuses, redact }, logger);
  const namesOf = (flows: CompiledConfig['pipelines'] | CompiledConfig['effects']) =>
    flows.filter(isWanted).map(({ name }) => name);
  const what = { pipelines: namesOf(config.pipelines), effects: namesOf(config.effects) };
  logger.info({ version, http: http.port, ...what }, 'millrace starts');

  const { graceMs } = config.shutdown;
  const stop = (why: string) => {
    if (stopping) {
      logger.warn({ why }, 'stops at once; what is open is left to the broker');
      die();
    }
    stopping = true;
    logger.info({ why, graceMs }, 'stops: finishes the open transactions');
    for (const processor of processors) processor.stop();
    setTimeout(() => {
      logger.error({ graceMs }, 'could not finish within shutdown.grace; what is open is left to the broker');
      die();
    }, graceMs).unref();
  };
  let stopping = false;
  process.on('SIGTERM', stop).on('SIGINT', stop);
  // A promise that nobody waits for, in a transform for one: what state things are in is unknown, so this ends here.
  process.on('uncaughtException', (err) => {
    logger.fatal({ err }, 'an error that nothing was there to catch; what is open is left to the broker');
    die();
  });

  const failures: string[] = [];
  await Promise.all(
    processors.map((processor) =>
      processor.run().catch((err: unknown) => {
        const reason = err instanceof Error ? err.message : String(err);
        failures.push(reason);
        if (err instanceof PipelineFailed) logger.fatal(reason);
        else logger.fatal({ err }, 'failed unexpectedly');
        // The others end in order; a process with one dead pipeline would look alive.
        if (!stopping && processors.length > 1) stop('another pipeline failed');
      }),
    ),
  );
  await Promise.race([http.close(HTTP_CLOSE_MS), delay(HTTP_CLOSE_MS)]);
  if (failures.length === 0) logger.info('stopped');
  else logger.fatal(`stopped: ${failures.join('; ')}`);
  if (processors.some((processor) => !processor.isClosed)) die();
  return failures.length === 0 ? 0 : 1;
}

/**
 * Ends the process whatever it is in the middle of. `process.exit` would wait for calls into the client to return, and
 * some of them ignore their time-out while a broker is down. The exit status is 137, as for any process killed so.
 */
function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // Still here: process 1 of a container, which no signal of its own ends. The exit status is another one, then.
  process.abort();
}
