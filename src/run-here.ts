import { setTimeout as delay } from 'node:timers/promises';
import type { CompiledConfig } from './config/compiled.ts';
import { createEffect, createPipeline } from './create-processor.ts';
import { EXIT } from './exit-codes.ts';
import { changeLevelOnSignal } from './level-signal.ts';
import { serveHttp } from './observability/http.ts';
import { LogLevel } from './observability/log-level.ts';
import { createLogger } from './observability/logger.ts';
import { createMetrics } from './observability/metrics.ts';
import { createOverview } from './observability/overview.ts';
import { redactSecrets } from './observability/redact.ts';
import { PipelineFailed } from './pipeline/errors.ts';
import type { Processor } from './pipeline/processor.ts';
import type { Selection } from './run.ts';
import { die, Shutdown } from './shutdown.ts';

/** How long the HTTP endpoints may take to close. */
const HTTP_CLOSE_MS = 1_000;

/** Runs all of them in this process; returns the exit code. */
export async function runHere(config: CompiledConfig, selection: Selection, version: string): Promise<number> {
  const level = new LogLevel(config.log.level);
  const logger = createLogger(config, { level });
  changeLevelOnSignal(level, logger);
  const processors: Processor[] = [];
  const statuses = () => processors.map((processor) => processor.status());
  const metrics = createMetrics(version, statuses);
  const around = { config, metrics, logger };
  for (const pipeline of selection.pipelines) processors.push(await createPipeline(pipeline, around));
  for (const effect of selection.effects) processors.push(await createEffect(effect, around));
  const { registry } = metrics;
  const http = await serveHttp(
    config.http,
    {
      metrics: () => registry.metrics(),
      statuses,
      overview: createOverview({
        config,
        version,
        flows: [...selection.pipelines, ...selection.effects],
        statuses,
        snapshot: () => registry.getMetricsAsJSON(),
      }),
      redact: redactSecrets(config.secrets),
    },
    logger,
  );
  const pipelines = selection.pipelines.map(({ name }) => name);
  const effects = selection.effects.map(({ name }) => name);
  logger.info({ version, http: http.port, pipelines, effects }, 'millrace starts');

  const shutdown = new Shutdown({
    logger,
    graceMs: config.shutdown.graceMs,
    stop: () => processors.forEach((processor) => processor.stop()),
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
        if (processors.length > 1) shutdown.begin('another pipeline failed');
      }),
    ),
  );
  await Promise.race([http.close(HTTP_CLOSE_MS), delay(HTTP_CLOSE_MS)]);
  if (failures.length === 0) logger.info('stopped');
  else logger.fatal(`stopped: ${failures.join('; ')}`);
  if (processors.some((processor) => !processor.isClosed)) die();
  return failures.length === 0 ? EXIT.stopped : EXIT.failed;
}
