import { setTimeout as delay } from 'node:timers/promises';
import type { CompiledConfig, PipelineConfig } from './config/compiled.ts';
import { createDeadLetters } from './dead-letters/dead-letter.ts';
import { KafkaInput } from './kafka/consumer.ts';
import { TransactionalProducer } from './kafka/producer.ts';
import { missingTopics } from './kafka/topics.ts';
import * as millrace from './index.ts';
import { combineObservers } from './observability/combine-observers.ts';
import { serveHttp } from './observability/http.ts';
import { logFacts } from './observability/log-facts.ts';
import { createLogger, type Logger } from './observability/logger.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import { redactSecrets } from './observability/redact.ts';
import { PipelineFailed } from './pipeline/errors.ts';
import { Processor } from './pipeline/processor.ts';
import { createPipelineSerdes } from './serde/create-serde.ts';
import { compileTransform } from './transform/compile-transform.ts';
import { loadTransform } from './transform/load-transform.ts';

/** How long the HTTP endpoints may take to close. */
const HTTP_CLOSE_MS = 1_000;

/** Everything of a pipeline that can be wrong before a broker is asked: its transform and its schemas. */
export async function loadPipeline(config: PipelineConfig, logger: Logger) {
  const { input, outputs } = createPipelineSerdes(config);
  const transform = await loadTransform(config.transformPath, { millrace });
  return compileTransform({ transform, input, outputs, logger });
}

async function createProcessor(
  { application, instance, bootstrapServers, secrets }: CompiledConfig,
  config: PipelineConfig,
  metrics: Metrics,
  parent: Logger,
): Promise<Processor> {
  const logger = parent.child({ pipeline: config.name });
  const observer = combineObservers(metrics.observer(config), logFacts(logger));
  const transform = await loadPipeline(config, logger);
  const common = { bootstrapServers, clientId: `${application}.${config.name}.${instance}` };
  const topics = [
    ...config.input.topics,
    ...config.outputs.map(({ topic }) => topic),
    ...(config.deadLetter ? [config.deadLetter.topic] : []),
  ];
  const consumer = new KafkaInput({
    ...common,
    groupId: config.groupId,
    topics: config.input.topics,
    ...config.group,
    properties: config.consumerProperties,
    report: (error) => {
      observer.clientError('consumer', error);
    },
  });
  const createProducer = (batchBytes: number) =>
    new TransactionalProducer({
      ...common,
      transactionalId: config.transactionalId,
      transactionTimeoutMs: config.transaction.timeoutMs,
      batchBytes,
      properties: config.producerProperties,
      report: (error) => {
        observer.clientError('producer', error);
      },
      checkTopics: (metadata) => {
        const missing = missingTopics(metadata, topics);
        if (missing.length === 0) return;
        throw new PipelineFailed(
          `pipeline ${config.name}: ${missing.length === 1 ? 'topic' : 'topics'} ${missing.join(', ')} ` +
            `not found at ${bootstrapServers}: create ${missing.length === 1 ? 'it' : 'them'}, or mend the name in the configuration`,
        );
      },
    });
  const deadLetter = config.deadLetter
    ? createDeadLetters({ ...config.deadLetter, pipeline: config.name, redact: redactSecrets(secrets) })
    : () => null;
  return new Processor({ config, consumer, createProducer, transform, deadLetter, observer, instance });
}

/** Runs the pipelines until a signal or a failure; returns the exit code. */
export async function run(config: CompiledConfig, names: readonly string[], version: string): Promise<number> {
  const logger = createLogger(config);
  const processors: Processor[] = [];
  const statuses = () => processors.map((processor) => processor.status());
  const metrics = createMetrics(version, statuses);
  for (const pipeline of config.pipelines.filter(({ name }) => names.length === 0 || names.includes(name))) {
    processors.push(await createProcessor(config, pipeline, metrics, logger));
  }
  const redact = redactSecrets(config.secrets);
  const http = await serveHttp(config.http, { metrics: () => metrics.registry.metrics(), statuses, redact }, logger);
  logger.info({ version, http: http.port, pipelines: processors.map((p) => p.status().pipeline) }, 'millrace starts');

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

  let failed = false;
  await Promise.all(
    processors.map((processor) =>
      processor.run().catch((err: unknown) => {
        failed = true;
        if (err instanceof PipelineFailed) logger.fatal(err.message);
        else logger.fatal({ err }, 'a pipeline failed unexpectedly');
        // The others end in order; a process with one dead pipeline would look alive.
        if (!stopping) stop('a pipeline failed');
      }),
    ),
  );
  await Promise.race([http.close(HTTP_CLOSE_MS), delay(HTTP_CLOSE_MS)]);
  logger.info({ failed }, 'stopped');
  if (processors.some((processor) => !processor.isClosed)) die();
  return failed ? 1 : 0;
}

/**
 * Ends the process whatever it is in the middle of. `process.exit` would wait for calls into the client to return, and
 * some of them ignore their time-out while a broker is down. The exit status is 137, as for any process killed so.
 */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}
