/** Long enough that a kill which is aimed at an open transaction seldom comes after its commit. */
const COMMIT_INTERVAL_MS = 500;
export const TRANSACTION_TIMEOUT_MS = 10_000;
/** The shortest that any broker allows by default. */
export const SESSION_TIMEOUT_MS = 6_000;

/** Fields of a configuration file, by their names there. */
export type Fields = Readonly<Record<string, unknown>>;

export interface PipelineConfigOptions {
  readonly application: string;
  readonly pipeline: string;
  readonly bootstrapServers: string;
  readonly input: string;
  readonly outputs: { readonly left: string; readonly right: string };
  readonly deadLetters: string;
  readonly transform: string;
  /** On top of what the tests have in common: of the consumer, of the pipeline, and beside the pipelines. */
  readonly own: { readonly consumer?: Fields; readonly pipeline?: Fields; readonly config?: Fields };
}

/** What the tests' configuration files have in common: quick to notice a failure, and able to prove where a record came from. */
export function pipelineConfig({ own, ...names }: PipelineConfigOptions): object {
  const { application, pipeline, bootstrapServers, input, outputs, deadLetters, transform } = names;
  return {
    application,
    kafka: { bootstrapServers },
    pipelines: {
      [pipeline]: {
        input: { topics: [input], key: 'string', value: 'json' },
        transform,
        outputs: {
          left: { topic: outputs.left, key: 'string', value: 'json' },
          right: { topic: outputs.right, key: 'string', value: 'json' },
        },
        deadLetter: { topic: deadLetters },
        transaction: { commitInterval: `${COMMIT_INTERVAL_MS}ms`, timeout: `${TRANSACTION_TIMEOUT_MS}ms` },
        retry: { attempts: 3, minDelay: '50ms', maxDelay: '200ms' },
        provenance: true,
        consumer: {
          sessionTimeout: `${SESSION_TIMEOUT_MS}ms`,
          properties: { 'heartbeat.interval.ms': 500 },
          ...own.consumer,
        },
        ...own.pipeline,
      },
    },
    ...own.config,
  };
}
