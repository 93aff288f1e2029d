import type { CompiledConfig, EffectConfig, PipelineConfig } from './config/compiled.ts';
import { createDeadLetters } from './dead-letters/dead-letter.ts';
import { effectLanes } from './effects/lane.ts';
import { EffectTarget } from './effects/target.ts';
import { traced } from './effects/traced-adapter.ts';
import { KafkaInput } from './kafka/consumer.ts';
import { LastEnd } from './kafka/last-end.ts';
import { needsOf } from './kafka/needs.ts';
import { TransactionalProducer } from './kafka/producer.ts';
import { loadEffect, loadPipeline } from './load-flow.ts';
import { combineObservers } from './observability/combine-observers.ts';
import { logFacts } from './observability/log-facts.ts';
import type { Logger } from './observability/logger.ts';
import type { Metrics } from './observability/metrics.ts';
import { redactSecrets } from './observability/redact.ts';
import { traceTransactions } from './observability/trace-transactions.ts';
import type { Observer } from './pipeline/observer.ts';
import { Processor } from './pipeline/processor.ts';
import { TransformLane } from './pipeline/transform-lane.ts';

export interface Surroundings {
  readonly config: CompiledConfig;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export async function createPipeline(pipeline: PipelineConfig, around: Surroundings): Promise<Processor> {
  const { logger, observer } = observed(pipeline, around);
  const transform = await loadPipeline(pipeline, logger);
  return new Processor({
    ...kafkaSide(pipeline, observer, around),
    createLane: (start, context) => new TransformLane(start, context, transform),
  });
}

export async function createEffect(effect: EffectConfig, around: Surroundings): Promise<Processor> {
  const { logger, observer } = observed(effect, around);
  const loaded = await loadEffect(effect, around.config.secrets, logger);
  const adapter = traced(loaded.adapter, effect.name);
  const { read } = loaded;
  const kafka = kafkaSide(effect, observer, around);
  return new Processor({
    ...kafka,
    createLane: effectLanes({ config: effect, adapter, read, log: (partition) => kafka.consumer.log(partition) }),
    target: new EffectTarget(effect, adapter, observer),
  });
}

function observed(flow: PipelineConfig | EffectConfig, { metrics, logger: parent }: Surroundings) {
  const { kind, name, workers, worker } = flow;
  const logger = parent.child({ [kind]: name, ...(workers > 1 ? { worker } : {}) });
  return { logger, observer: combineObservers(metrics.observer(flow), logFacts(logger), traceTransactions(flow)) };
}

/** What a processor has whatever its lanes do. */
function kafkaSide(flow: PipelineConfig | EffectConfig, observer: Observer, { config }: Surroundings) {
  const { application, instance, cluster, secrets } = config;
  const common = { cluster, clientId: `${application}.${flow.name}.${instance}` };
  const needs = needsOf(flow);
  const consumer = new KafkaInput({
    ...common,
    needs,
    topics: flow.input.topics,
    ...flow.group,
    properties: flow.consumerProperties,
    report: (error) => {
      observer.clientError('consumer', error);
    },
  });
  // At the start only: a topic that goes missing later holds what is written to it, not everything.
  let checksTopics = true;
  const report = (error: Error) => {
    observer.clientError('producer', error);
  };
  const lastEnd = new LastEnd({ ...common, needs, report });
  const createProducer = (batchBytes: number) => {
    const producer = new TransactionalProducer({
      ...common,
      needs,
      batchBytes,
      properties: flow.producerProperties,
      report,
      lastEnd,
      checksTopics,
    });
    checksTopics = false;
    return producer;
  };
  const deadLetter = flow.deadLetter
    ? createDeadLetters({ ...flow.deadLetter, pipeline: flow.name, redact: redactSecrets(secrets) })
    : () => null;
  return { config: flow, consumer, createProducer, deadLetter, observer, instance: `${instance}.${flow.worker}` };
}
