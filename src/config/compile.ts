import { resolve } from 'node:path';
import { propertiesFor } from './client-spec.ts';
import { compileCluster } from './compile-cluster.ts';
import { compileTarget } from './compile-target.ts';
import type {
  CompiledConfig,
  EffectConfig,
  EventIdConfig,
  FlowConfig,
  PipelineConfig,
  SerdeConfig,
} from './compiled.ts';
import type { Configuration, Effect, Pipeline, Serde } from './spec.ts';
import { memberId } from './worker.ts';

interface Origin {
  readonly file: string;
  readonly folder: string;
  readonly hostname: string;
  readonly secrets: ReadonlySet<string>;
}

export function groupOf(application: string, pipeline: string, group: string | undefined): string {
  return group ?? `${application}.${pipeline}`;
}

/** From checked fields to the frozen form that the rest of Millrace sees. */
export function compile(config: Configuration, { file, folder, hostname, secrets }: Origin): CompiledConfig {
  const { application, instance = hostname, kafka, worker, http, log, shutdown } = config;
  const around = { config: { ...config, instance }, folder };
  const pipelines = Object.entries(config.pipelines).map(([name, pipeline]) => compilePipeline(name, pipeline, around));
  const effects = Object.entries(config.effects).map(([name, effect]) => compileEffect(name, effect, around));
  return deepFreeze({
    file,
    application,
    instance,
    cluster: compileCluster(kafka, folder),
    pipelines,
    effects,
    worker: {
      maxMemoryBytes: worker.maxMemory ?? null,
      restart: {
        attempts: worker.restart.attempts,
        minDelayMs: worker.restart.minDelay,
        maxDelayMs: worker.restart.maxDelay,
        resetAfterMs: worker.restart.resetAfter,
      },
    },
    http,
    log,
    shutdown: { graceMs: shutdown.grace },
    secrets: [...secrets],
  });
}

interface Around {
  readonly config: Configuration & { readonly instance: string };
  readonly folder: string;
}

function compilePipeline(name: string, pipeline: Pipeline, around: Around): PipelineConfig {
  const { transform, outputs, transaction, provenance } = pipeline;
  const serde = (spec: Serde) => compileSerde(spec, around.folder);
  return {
    kind: 'pipeline',
    ...compileFlow(name, pipeline, around),
    workers: pipeline.workers,
    transformPath: resolve(around.folder, transform),
    sourceNames: {},
    outputs: Object.entries(outputs).map(([name, { topic, key, value }]) => ({
      name,
      topic,
      key: serde(key),
      value: serde(value),
    })),
    transaction: {
      commitIntervalMs: transaction.commitInterval,
      maxRecords: transaction.maxRecords,
      maxBytes: transaction.maxBytes,
      timeoutMs: transaction.timeout,
    },
    provenance,
  };
}

/** What limits the transactions of effects, which hold offsets and few dead letters. */
const EFFECT_TRANSACTION = { maxRecords: 10_000, maxBytes: 16 << 20 };

function compileEffect(name: string, effect: Effect, around: Around): EffectConfig {
  const { application, shutdown } = around.config;
  const { batch, transaction, concurrency, consumer } = effect;
  return {
    kind: 'effect',
    ...compileFlow(name, effect, around),
    workers: 1,
    eventId: compileEventId(effect.eventId),
    target: compileTarget(effect, `${application}.${name}`, around.folder),
    batch: { maxRecords: batch.maxRecords, maxWaitMs: batch.maxWait },
    concurrency,
    transaction: {
      // Record by record: there is nothing to collect, and the next one waits.
      commitIntervalMs: batch.maxRecords === 1 ? 0 : transaction.commitInterval,
      timeoutMs: transaction.timeout,
      ...EFFECT_TRANSACTION,
    },
    provenance: false,
    patienceMs: Math.min(shutdown.grace, consumer.maxPollInterval, transaction.timeout) / 2,
  };
}

function compileEventId(spec: Effect['eventId']): EventIdConfig {
  if ('header' in spec) return { from: 'header', header: spec.header };
  if ('pointer' in spec) return { from: 'value', pointer: spec.pointer };
  return { from: 'key' in spec ? 'key' : 'coordinates' };
}

function compileFlow(
  name: string,
  { group, input, retry, deadLetter, onError, consumer, producer }: Pipeline | Effect,
  { config: { application, instance, kafka }, folder }: Around,
): Omit<FlowConfig, 'kind' | 'workers' | 'transaction' | 'provenance'> {
  const serde = (spec: Serde) => compileSerde(spec, folder);
  const member = memberId(application, name, instance, 0);
  return {
    name,
    worker: 0,
    groupId: groupOf(application, name, group),
    transactionalId: member,
    input: { ...input, key: serde(input.key), value: serde(input.value) },
    retry: { attempts: retry.attempts, minDelayMs: retry.minDelay, maxDelayMs: retry.maxDelay },
    deadLetter: deadLetter ?? null,
    onError,
    group: {
      protocol: consumer.protocol,
      assignor: consumer.assignor,
      sessionTimeoutMs: consumer.sessionTimeout,
      maxPollIntervalMs: consumer.maxPollInterval,
      instanceId: consumer.protocol === 'classic' && consumer.staticMembership ? member : null,
    },
    consumerProperties: { ...propertiesFor('consumer', kafka.properties), ...consumer.properties },
    producerProperties: { ...propertiesFor('producer', kafka.properties), ...producer.properties },
  };
}

function compileSerde(serde: Serde, folder: string): SerdeConfig {
  return typeof serde === 'string' ? { type: serde } : { type: 'avro', schemaPath: resolve(folder, serde.avro) };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) deepFreeze(part);
    Object.freeze(value);
  }
  return value;
}
