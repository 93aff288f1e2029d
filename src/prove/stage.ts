import { createHash, randomBytes } from 'node:crypto';
import type { CompiledConfig, PipelineConfig } from '../config/compiled.ts';

/** Begins the names of all that a proof creates: topics, the group, transactional ids. */
export const STAGE_PREFIX = 'millrace-prove-';

/** Where a pipeline is proven: on copies of its topics, in a group of its own. */
export interface Stage {
  /** Unique: the group, and what the copies' names begin with. */
  readonly name: string;
  readonly pipeline: string;
  /** Instead of those of the configuration. */
  readonly bootstrapServers: string | null;
}

export const newStageName = (): string => STAGE_PREFIX + randomBytes(4).toString('hex');

const MAX_TOPIC_LENGTH = 249;

/** The name of a topic's copy. */
export function copyOf({ name }: Pick<Stage, 'name'>, topic: string): string {
  const copy = `${name}.${topic}`;
  if (copy.length <= MAX_TOPIC_LENGTH) return copy;
  const digest = createHash('sha256').update(topic).digest('hex').slice(0, 8);
  return `${copy.slice(0, MAX_TOPIC_LENGTH - digest.length - 1)}-${digest}`;
}

/** The shortest that brokers allow by default: the group notices sooner what is done to the workers. */
const SESSION_TIMEOUT_MS = 6_000;
/** Often enough that there is always a transaction to be interrupted. */
const COMMIT_INTERVAL_MS = 500;
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 500;

/**
 * The configuration of one worker of a proof. What it changes is where records come from and go to, that they tell
 * where they come from, and waits that would only make the proof longer.
 */
export function stageConfig(config: CompiledConfig, stage: Stage, instance: string): CompiledConfig {
  const pipelines = config.pipelines
    .filter(({ name }) => name === stage.pipeline)
    .map((pipeline) => stagePipeline(pipeline, stage, instance));
  return {
    ...config,
    application: stage.name,
    instance,
    cluster: { ...config.cluster, bootstrapServers: stage.bootstrapServers ?? config.cluster.bootstrapServers },
    pipelines,
    effects: [],
    worker: { ...config.worker, maxMemoryBytes: null },
    http: { host: '127.0.0.1', port: 0 },
    log: { level: 'info', format: 'json' },
  };
}

function stagePipeline(pipeline: PipelineConfig, stage: Stage, instance: string): PipelineConfig {
  const { input, outputs, deadLetter, transaction, retry, group } = pipeline;
  const copy = (topic: string) => copyOf(stage, topic);
  return {
    ...pipeline,
    // Each worker of a proof is a process and an instance of its own.
    workers: 1,
    worker: 0,
    groupId: stage.name,
    transactionalId: `${stage.name}.${pipeline.name}.${instance}.0`,
    input: { ...input, topics: input.topics.map(copy), startAt: 'earliest' },
    sourceNames: Object.fromEntries(input.topics.map((topic) => [copy(topic), topic])),
    outputs: outputs.map((output) => ({ ...output, topic: copy(output.topic) })),
    deadLetter: deadLetter && { ...deadLetter, topic: copy(deadLetter.topic) },
    transaction: { ...transaction, commitIntervalMs: Math.min(transaction.commitIntervalMs, COMMIT_INTERVAL_MS) },
    retry: {
      attempts: retry.attempts,
      minDelayMs: Math.min(retry.minDelayMs, RETRY_MIN_MS),
      maxDelayMs: Math.min(retry.maxDelayMs, RETRY_MAX_MS),
    },
    // Static members would move no partition when one of them leaves: a proof is to see rebalances.
    group: { ...group, instanceId: null, sessionTimeoutMs: sessionTimeoutOf(pipeline) },
    provenance: true,
  };
}

function sessionTimeoutOf({ group, consumerProperties }: PipelineConfig): number {
  const heartbeat = Number(consumerProperties['heartbeat.interval.ms'] ?? 0);
  return heartbeat < SESSION_TIMEOUT_MS ? Math.min(group.sessionTimeoutMs, SESSION_TIMEOUT_MS) : group.sessionTimeoutMs;
}
