import { asWorker } from './config/worker.ts';
import { createEffect, createPipeline, type Surroundings } from './create-processor.ts';
import { EXIT } from './exit-codes.ts';
import { LogLevel } from './observability/log-level.ts';
import { createLogger, type Logger } from './observability/logger.ts';
import { createMetrics } from './observability/metrics.ts';
import { PipelineFailed } from './pipeline/errors.ts';
import type { Processor } from './pipeline/processor.ts';
import { die } from './shutdown.ts';
import type { SupervisorLink } from './supervisor/supervisor-link.ts';

const REPORT_EVERY_MS = 1_000;

/**
 * One worker of a pipeline or an effect, in this process, by the orders of its supervisor; returns the exit code.
 *
 * @throws what its module, its schemas or its target can't be used for.
 */
export async function work(link: SupervisorLink, name: string, worker: number, version: string): Promise<number> {
  const config = await link.ordered;
  const level = new LogLevel(config.log.level);
  link.onLevel = (ordered) => (level.current = ordered);
  const logger = createLogger(config, { level });
  const metrics = createMetrics(version, () => [], { worker: `${name}.${worker}` });
  const sendMetrics = async () => {
    await link.report({ kind: 'metrics', metrics: await metrics.registry.getMetricsAsJSON() });
  };
  process.on('uncaughtException', (err) => {
    logger.fatal({ err }, 'an error that nothing was there to catch; what is open is left to the broker');
    void link.report({ kind: 'failed', reason: err.message, hope: 'restart' });
    die();
  });
  const processor = await createProcessor(name, worker, { config, metrics, logger });
  await link.report({ kind: 'loaded' });
  await Promise.race([link.released, link.stopped]);
  if (link.isStopped) return EXIT.stopped;

  void link.stopped.then(() => processor.stop());
  link.onMeasure = () => void sendMetrics();
  const reportStatus = () => {
    void link.report({ kind: 'status', status: processor.status(), residentBytes: process.memoryUsage.rss() });
  };
  reportStatus();
  const reporting = setInterval(reportStatus, REPORT_EVERY_MS);
  const code = await runToEnd(processor, link, logger);
  clearInterval(reporting);
  await sendMetrics();
  if (!processor.isClosed) die();
  return code;
}

function createProcessor(name: string, worker: number, around: Surroundings): Promise<Processor> {
  const { config } = around;
  const pipeline = config.pipelines.find((each) => each.name === name);
  if (pipeline) return createPipeline(asWorker(pipeline, worker, config), around);
  const effect = config.effects.find((each) => each.name === name);
  if (effect) return createEffect(asWorker(effect, worker, config), around);
  throw new Error(`the configuration has no ${name}`);
}

async function runToEnd(processor: Processor, link: SupervisorLink, logger: Logger): Promise<number> {
  try {
    await processor.run();
    return EXIT.stopped;
  } catch (err) {
    const reason = err instanceof Error ? err.message : String(err);
    const isExpected = err instanceof PipelineFailed;
    if (isExpected) logger.fatal(reason);
    else logger.fatal({ err }, 'failed unexpectedly');
    await link.report({ kind: 'failed', reason, hope: isExpected && err.isFinal ? 'final' : 'restart' });
    return EXIT.failed;
  }
}
