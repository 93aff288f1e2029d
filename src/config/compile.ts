import { resolve } from 'node:path';
import { propertiesFor } from './client-spec.ts';
import type { CompiledConfig, PipelineConfig, SerdeConfig } from './compiled.ts';
import type { Configuration, Pipeline, Serde } from './spec.ts';

interface Origin {
  readonly file: string;
  readonly folder: string;
  readonly hostname: string;
  readonly secrets: ReadonlySet<string>;
}

/** The only worker, for as long as one process is one worker. */
const WORKER = 0;

export function groupOf(application: string, pipeline: string, group: string | undefined): string {
  return group ?? `${application}.${pipeline}`;
}

/** From checked fields to the frozen form that the rest of Millrace sees. */
export function compile(config: Configuration, { file, folder, hostname, secrets }: Origin): CompiledConfig {
  const { application, instance = hostname, kafka, http, log, shutdown } = config;
  const pipelines = Object.entries(config.pipelines).map(([name, pipeline]) =>
    compilePipeline(name, pipeline, { ...config, instance }, folder),
  );
  return deepFreeze({
    file,
    application,
    instance,
    bootstrapServers: [kafka.bootstrapServers].flat().join(','),
    pipelines,
    http,
    log,
    shutdown: { graceMs: shutdown.grace },
    secrets: [...secrets],
  });
}

function compilePipeline(
  name: string,
  pipeline: Pipeline,
  { application, instance, kafka }: Configuration & { instance: string },
  folder: string,
): PipelineConfig {
  const { group, input, transform, outputs, transaction, retry, deadLetter, onError, consumer, producer } = pipeline;
  const serde = (spec: Serde) => compileSerde(spec, folder);
  return {
    name,
    groupId: groupOf(application, name, group),
    transactionalId: [application, name, instance, WORKER].join('.'),
    input: { ...input, key: serde(input.key), value: serde(input.value) },
    transformPath: resolve(folder, transform),
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
    retry: { attempts: retry.attempts, minDelayMs: retry.minDelay, maxDelayMs: retry.maxDelay },
    deadLetter: deadLetter ?? null,
    onError,
    group: {
      protocol: consumer.protocol,
      assignor: consumer.assignor,
      sessionTimeoutMs: consumer.sessionTimeout,
      maxPollIntervalMs: consumer.maxPollInterval,
    },
    provenance: pipeline.provenance,
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
