import type { CompiledConfig, EffectConfig, FlowConfig, PipelineConfig } from './config/compiled.ts';
import { createDeadLetters } from './dead-letters/dead-letter.ts';
import { effectLanes } from './effects/lane.ts';
import { EffectTarget } from './effects/target.ts';
import { KafkaInput } from './kafka/consumer.ts';
import { TransactionalProducer } from './kafka/producer.ts';
import { missingTopics } from './kafka/topics.ts';
import { loadEffect, loadPipeline } from './load-flow.ts';
import { combineObservers } from './observability/combine-observers.ts';
import { logFacts } from './observability/log-facts.ts';
import type { Logger } from './observability/logger.ts';
import type { Metrics } from './observability/metrics.ts';
import { redactSecrets } from './observability/redact.ts';
import { PipelineFailed } from './pipeline/errors.ts';
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
    ...kafkaSide(
      pipeline,
      pipeline.outputs.map(({ topic }) => topic),
      observer,
      around,
    ),
    createLane: (start, context) => new TransformLane(start, context, transform),
  });
}

export async function createEffect(effect: EffectConfig, around: Surroundings): Promise<Processor> {
  const { logger, observer } = observed(effect, around);
  const { adapter, read } = await loadEffect(effect, around.config.secrets, logger);
  const kafka = kafkaSide(effect, [], observer, around);
  return new Processor({
    ...kafka,
    createLane: effectLanes({ config: effect, adapter, read, log: (partition) => kafka.consumer.log(partition) }),
    target: new EffectTarget(effect, adapter, observer),
  });
}

function observed(flow: PipelineConfig | EffectConfig, { metrics, logger: parent }: Surroundings) {
  const logger = parent.child({ [flow.kind]: flow.name });
  return { logger, observer: combineObservers(metrics.observer(flow), logFacts(logger)) };
}

/** What a processor has whatever its lanes do. */
function kafkaSide(flow: FlowConfig, outputs: readonly string[], observer: Observer, { config }: Surroundings) {
  const { application, instance, bootstrapServers, secrets } = config;
  const common = { bootstrapServers, clientId: `${application}.${flow.name}.${instance}` };
  const topics = [...flow.input.topics, ...outputs, ...(flow.deadLetter ? [flow.deadLetter.topic] : [])];
  const consumer = new KafkaInput({
    ...common,
    groupId: flow.groupId,
    topics: flow.input.topics,
    ...flow.group,
    properties: flow.consumerProperties,
    report: (error) => {
      observer.clientError('consumer', error);
    },
  });
  let checked = false;
  const createProducer = (batchBytes: number) =>
    new TransactionalProducer({
      ...common,
      transactionalId: flow.transactionalId,
      transactionTimeoutMs: flow.transaction.timeoutMs,
      batchBytes,
      properties: flow.producerProperties,
      report: (error) => {
        observer.clientError('producer', error);
      },
      checkTopics: (metadata) => {
        // At the start only: a topic that goes missing later holds what is written to it, not everything.
        if (checked) return;
        checked = true;
        const missing = missingTopics(metadata, topics);
        if (missing.length === 0) return;
        throw new PipelineFailed(
          `${flow.kind} ${flow.name}: ${missing.length === 1 ? 'topic' : 'topics'} ${missing.join(', ')} ` +
            `not found at ${bootstrapServers}: create ${missing.length === 1 ? 'it' : 'them'}, or mend the name in the configuration`,
        );
      },
    });
  const deadLetter = flow.deadLetter
    ? createDeadLetters({ ...flow.deadLetter, pipeline: flow.name, redact: redactSecrets(secrets) })
    : () => null;
  return { config: flow, consumer, createProducer, deadLetter, observer, instance };
}
