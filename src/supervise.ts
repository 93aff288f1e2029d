import { setTimeout as delay } from 'node:timers/promises';
import type { CompiledConfig } from './config/compiled.ts';
import { EXIT } from './exit-codes.ts';
import { changeLevelOnSignal } from './level-signal.ts';
import { serveHttp } from './observability/http.ts';
import { LogLevel } from './observability/log-level.ts';
import { createLogger } from './observability/logger.ts';
import { createMetrics } from './observability/metrics.ts';
import { createOverview } from './observability/overview.ts';
import { redactSecrets } from './observability/redact.ts';
import { createWorkerMetrics } from './observability/worker-metrics.ts';
import type { Selection } from './run.ts';
import { Shutdown } from './shutdown.ts';
import { Supervisor } from './supervisor/supervisor.ts';

/** How long the HTTP endpoints may take to close. */
const HTTP_CLOSE_MS = 1_000;

/**
 * Runs them in processes of their own, which this one looks after; returns the exit code.
 *
 * @throws WorkerFailed where what the workers are given can't be used.
 */
export async function supervise(config: CompiledConfig, selection: Selection, version: string): Promise<number> {
  const level = new LogLevel(config.log.level);
  const logger = createLogger(config, { level });
  const flows = [...selection.pipelines, ...selection.effects];
  const supervisor: Supervisor = new Supervisor({
    config,
    flows,
    logger,
    level,
    restarted: ({ name }, reason) => workerMetrics.restarted(name, reason),
    // A process with one dead worker would look alive.
    failed: () => shutdown.begin('a worker can not go on'),
  });
  changeLevelOnSignal(level, logger, () => supervisor.tellLevel());
  const { registry } = createMetrics(version, () => supervisor.statuses(), { worker: 'supervisor' });
  const names = flows.map(({ name }) => name);
  const workerMetrics = createWorkerMetrics(registry, names, () => supervisor.running());
  const joined = () => supervisor.metrics(() => registry.getMetricsAsJSON());
  const statuses = () => supervisor.statuses();
  const snapshot = async () => (await joined()).getMetricsAsJSON();
  const http = await serveHttp(
    config.http,
    {
      metrics: async () => (await joined()).metrics(),
      statuses,
      overview: createOverview({ config, version, flows, statuses, snapshot }),
      redact: redactSecrets(config.secrets),
    },
    logger,
  );
  const workers = Object.fromEntries(flows.map((flow) => [flow.name, flow.workers]));
  logger.info({ version, http: http.port, workers }, 'millrace starts');

  const shutdown = new Shutdown({
    logger,
    graceMs: config.shutdown.graceMs,
    stop: () => supervisor.stop(),
    abandon: () => supervisor.kill(),
  });
  const failures = await supervisor.run();
  await Promise.race([http.close(HTTP_CLOSE_MS), delay(HTTP_CLOSE_MS)]);
  const unusable = failures.find(({ exitCode }) => exitCode === EXIT.unusable);
  if (unusable) throw unusable;
  if (failures.length === 0) logger.info('stopped');
  else logger.fatal(`stopped: ${failures.map(({ message }) => message).join('; ')}`);
  return failures.length === 0 ? EXIT.stopped : EXIT.failed;
}
