/**
 * The configuration after parsing: validated, defaults filled in, frozen, paths absolute, units in the names.
 * Nothing behind `config/` sees YAML or the environment.
 */

export type SerdeConfig =
  | { readonly type: 'bytes' }
  | { readonly type: 'string' }
  | { readonly type: 'json' }
  /** Plain Avro binary of one local schema. */
  | { readonly type: 'avro'; readonly schemaPath: string };

/** librdkafka configuration properties, by their own names. */
export type ClientProperties = Readonly<Record<string, string | number | boolean>>;

export interface OutputConfig {
  readonly name: string;
  readonly topic: string;
  readonly key: SerdeConfig;
  readonly value: SerdeConfig;
}

export interface RetryConfig {
  /** Tries in all, the first included. */
  readonly attempts: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
}

export interface DeadLetterConfig {
  readonly topic: string;
  readonly format: 'headers' | 'json';
}

export interface PipelineConfig {
  readonly name: string;
  readonly groupId: string;
  /** `<application>.<pipeline>.<instance>.<worker>` */
  readonly transactionalId: string;
  readonly input: {
    readonly topics: readonly string[];
    readonly key: SerdeConfig;
    readonly value: SerdeConfig;
    /** Where to begin in a partition for which the group has no committed offset. */
    readonly startAt: 'earliest' | 'latest';
  };
  readonly transformPath: string;
  readonly outputs: readonly OutputConfig[];
  readonly transaction: {
    readonly commitIntervalMs: number;
    readonly maxRecords: number;
    readonly maxBytes: number;
    readonly timeoutMs: number;
  };
  readonly retry: RetryConfig;
  readonly deadLetter: DeadLetterConfig | null;
  /** What becomes of a record that fails for good and cannot be dead-lettered. */
  readonly onError: 'hold' | 'stop';
  readonly group: {
    readonly protocol: 'classic' | 'consumer';
    /** Classic protocol only. */
    readonly assignor: 'cooperative-sticky' | 'range' | 'roundrobin';
    /** Classic protocol only; the broker decides it in the consumer protocol. */
    readonly sessionTimeoutMs: number;
    readonly maxPollIntervalMs: number;
  };
  /** Adds a `millrace-attempt` header to everything written, for verification. */
  readonly provenance: boolean;
  /** `kafka.properties` with the pipeline's own on top; nothing that weakens the guarantee can be here. */
  readonly consumerProperties: ClientProperties;
  readonly producerProperties: ClientProperties;
}

export interface CompiledConfig {
  /** The file it was read from, absolute. */
  readonly file: string;
  readonly application: string;
  readonly instance: string;
  readonly bootstrapServers: string;
  readonly pipelines: readonly PipelineConfig[];
  readonly http: { readonly host: string; readonly port: number };
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly format: 'auto' | 'json' | 'pretty' };
  readonly shutdown: { readonly graceMs: number };
  /** Values that came from `${file:…}` or from variables with secret-like names: never to be printed. */
  readonly secrets: readonly string[];
}
