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

/** What pipelines and effects have in common: an input that is read in a group, and offsets that move in transactions. */
export interface FlowConfig {
  readonly kind: 'pipeline' | 'effect';
  /** No pipeline and effect share one. */
  readonly name: string;
  readonly groupId: string;
  /** How many processes of one supervisor run it; each effect has one. */
  readonly workers: number;
  /** Which of them this is, from 0. */
  readonly worker: number;
  /** `<application>.<name>.<instance>.<worker>` */
  readonly transactionalId: string;
  readonly input: {
    readonly topics: readonly string[];
    readonly key: SerdeConfig;
    readonly value: SerdeConfig;
    /** Where to begin in a partition for which the group has no committed offset. */
    readonly startAt: 'earliest' | 'latest';
    /** Where records were deleted before they were read. */
    readonly onDataLoss: 'stop' | 'skip';
  };
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
    /**
     * `group.instance.id`, the name by which the group knows a member beyond its process; null for none. Classic protocol
     * only: under the consumer protocol the broker refuses the name of a member that crashed for as long as its session
     * lasts (UNRELEASED_INSTANCE_ID, KIP-848), and its successor could not start.
     */
    readonly instanceId: string | null;
  };
  /** Adds headers to everything written that say where it comes from, for verification. */
  readonly provenance: boolean;
  /** `kafka.properties` with its own on top; nothing that weakens the guarantee can be here. */
  readonly consumerProperties: ClientProperties;
  readonly producerProperties: ClientProperties;
}

export interface PipelineConfig extends FlowConfig {
  readonly kind: 'pipeline';
  readonly transformPath: string;
  /** What the transform takes for the topic of its records, by topic: `prove` runs on copies. Empty otherwise. */
  readonly sourceNames: Readonly<Record<string, string>>;
  readonly outputs: readonly OutputConfig[];
}

export interface PostgresConfig {
  /** A secret as a whole, since it may hold the password. */
  readonly url: string;
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly write: PostgresWrite;
}

export type PostgresWrite = ProcessedEventsConfig | UpsertConfig | PostgresModuleConfig;

export interface ProcessedEventsConfig {
  readonly type: 'processed-events';
  /** `table` or `schema.table`, as it is in the catalog: it will be quoted. */
  readonly table: string;
  readonly consumer: string;
  /** Null keeps them for ever. */
  readonly pruneAfterMs: number | null;
  readonly effect: { readonly type: 'statements'; readonly statements: readonly string[] } | PostgresModuleConfig;
}

export interface UpsertConfig {
  readonly type: 'upsert';
  /** `table` or `schema.table`, as it is in the catalog: it will be quoted. */
  readonly table: string;
  /** Column to reference. */
  readonly key: Readonly<Record<string, string>>;
  /** Column to reference; may be empty. */
  readonly columns: Readonly<Record<string, string>>;
  readonly version: { readonly column: string; readonly from: string } | null;
}

/** The file is absolute and loaded by whoever makes the adapter. */
export interface PostgresModuleConfig {
  readonly type: 'module';
  readonly path: string;
}

export interface HttpConfig {
  readonly url: string;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body:
    { readonly type: 'value' } | { readonly type: 'none' } | { readonly type: 'template'; readonly template: unknown };
  readonly timeoutMs: number;
  /** A 409 counts as done before; else it is poison as other 4xx are. */
  readonly conflictIsDone: boolean;
  readonly connections: number;
  /** A secret. */
  readonly bearerToken: string | null;
  /** Absolute paths of PEM files. */
  readonly tls: {
    readonly caPath: string | null;
    readonly certificatePath: string | null;
    readonly keyPath: string | null;
  } | null;
}

/** Where a record's event id is found. */
export type EventIdConfig =
  | { readonly from: 'header'; readonly header: string }
  | { readonly from: 'key' }
  /** A JSON pointer (RFC 6901) into the value. */
  | { readonly from: 'value'; readonly pointer: string }
  | { readonly from: 'coordinates' };

export interface EffectConfig extends FlowConfig {
  readonly kind: 'effect';
  readonly eventId: EventIdConfig;
  readonly target:
    | { readonly type: 'postgres'; readonly postgres: PostgresConfig }
    | { readonly type: 'http'; readonly http: HttpConfig }
    | { readonly type: 'module'; readonly path: string };
  readonly batch: { readonly maxRecords: number; readonly maxWaitMs: number };
  /** How many batches of a partition are under way at once; records with the same key never are. */
  readonly concurrency: number;
  /** How long a stop, or giving up partitions, waits for what is under way at the target. */
  readonly patienceMs: number;
}

/** Paths are absolute. */
export interface TlsConfig {
  /** Null trusts what the system trusts. */
  readonly caPath: string | null;
  /** Null where none is shown; the key is there with it. */
  readonly certificatePath: string | null;
  readonly keyPath: string | null;
  /** A secret. */
  readonly keyPassword: string | null;
}

export interface OauthConfig {
  readonly tokenEndpoint: string;
  /** Null, as the secret, where client properties ask for a grant that takes none. */
  readonly clientId: string | null;
  /** A secret. */
  readonly clientSecret: string | null;
  readonly scope: string | null;
  readonly caPath: string | null;
}

export type SaslConfig =
  | {
      readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
      readonly username: string;
      /** A secret. */
      readonly password: string;
    }
  /** Null where client properties say how tokens are had. */
  | { readonly mechanism: 'OAUTHBEARER'; readonly oauth: OauthConfig | null }
  /** Client properties say the rest. */
  | { readonly mechanism: 'GSSAPI' };

/** How the cluster is reached, whoever asks. */
export interface ClusterConfig {
  /** `host:port`, several with commas between them. */
  readonly bootstrapServers: string;
  /** Null for connections that are not encrypted. */
  readonly tls: TlsConfig | null;
  readonly sasl: SaslConfig | null;
  /** Those of `kafka.properties` that are for a client that reads nothing. */
  readonly properties: ClientProperties;
}

/** What a supervisor does about the processes that it runs. */
export interface WorkerConfig {
  /** Resident bytes past which a worker is replaced; null for no limit. */
  readonly maxMemoryBytes: number | null;
  readonly restart: RestartConfig;
}

export interface RestartConfig {
  /** Restarts in a row. */
  readonly attempts: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  /** After a life of this length the count begins anew. */
  readonly resetAfterMs: number;
}

export interface CompiledConfig {
  /** The file it was read from, absolute. */
  readonly file: string;
  readonly application: string;
  readonly instance: string;
  readonly cluster: ClusterConfig;
  readonly pipelines: readonly PipelineConfig[];
  readonly effects: readonly EffectConfig[];
  readonly worker: WorkerConfig;
  readonly http: { readonly host: string; readonly port: number };
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly format: 'auto' | 'json' | 'pretty' };
  readonly shutdown: { readonly graceMs: number };
  /** Values that came from `${file:…}` or from variables with secret-like names: never to be printed. */
  readonly secrets: readonly string[];
}
