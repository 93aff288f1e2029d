/** What users import as `millrace/testing`: a pipeline of a configuration file, run on records in memory. Needs no broker. */
import type { PipelineConfig } from './config/compiled.ts';
import { loadConfig } from './config/load.ts';
import { createDeadLetters, type DeadLetterOf } from './dead-letters/dead-letter.ts';
import * as millrace from './index.ts';
import { redactSecrets } from './observability/redact.ts';
import type { InputRecord, OutputRecord, RecordTransform, Serde } from './pipeline/ports.ts';
import { createPipelineSerdes, type PipelineSerdes } from './serde/create-serde.ts';
import { compileTransform } from './transform/compile-transform.ts';
import type { AnyTransform, TransformFunction, TransformLogger } from './transform/define-transform.ts';
import { isRetriable, toError } from './transform/errors.ts';
import { EVENT_ID } from './transform/event-id.ts';
import { loadTransform } from './transform/load-transform.ts';
import { type HeadersInit, RecordHeaders } from './transform/record-headers.ts';

/** A record to feed in. A Buffer as key or value is taken as the bytes on the topic, whatever the format: for malformed records. */
export interface TestRecord {
  /** No key when left out. */
  readonly key?: unknown;
  readonly value: unknown;
  readonly headers?: HeadersInit;
  /** Milliseconds since the epoch; 2025-01-01 when left out. */
  readonly timestamp?: number;
  /** The first input topic when left out. */
  readonly topic?: string;
  /** 0 when left out. */
  readonly partition?: number;
  /** When left out: how many records were fed in before. */
  readonly offset?: number;
}

/** A record that the pipeline wrote, decoded by the output's formats. */
export interface TestOutput {
  readonly topic: string;
  readonly key: unknown;
  readonly value: unknown;
  readonly headers: RecordHeaders;
  readonly timestamp: number;
  /** Only where the transform chose one. */
  readonly partition?: number;
}

export interface TestFailure {
  /** The record that failed. */
  readonly record: TestRecord;
  readonly error: Error;
  readonly attempts: number;
  /** The dead letter as it would be on its topic; null where the pipeline has none and would hold the partition or stop. */
  readonly letter: {
    readonly key: Buffer | null;
    readonly value: Buffer | null;
    readonly headers: RecordHeaders;
  } | null;
}

export interface TestResult {
  /** By output name; every output of the pipeline is there. */
  readonly outputs: Readonly<Record<string, readonly TestOutput[]>>;
  /** Records for which the transform returned nothing. */
  readonly filtered: readonly TestRecord[];
  readonly failed: readonly TestFailure[];
}

export interface TestPipeline {
  /** Runs the records in order. Failures are retried as configured, without the wait. */
  run(records: readonly TestRecord[]): Promise<TestResult>;
}

export interface TestPipelineOptions {
  /** Variables for `${VAR}` in the configuration, in place of the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Runs instead of the configured file: for a transform that the test imported itself, with mocks or coverage. */
  readonly transform?: AnyTransform;
  /** Where `logger` in the transform's context writes; nowhere when left out. */
  readonly logger?: TransformLogger;
}

const DEFAULT_TIMESTAMP = Date.UTC(2025, 0, 1);
const SILENT: TransformLogger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Loads a pipeline of a configuration file. Throws what `millrace check` would report. */
export async function testPipeline(
  file: string,
  name: string,
  options: TestPipelineOptions = {},
): Promise<TestPipeline> {
  const config = loadConfig(file, options.env === undefined ? {} : { env: options.env });
  const pipeline = config.pipelines.find((each) => each.name === name);
  if (pipeline === undefined) {
    const names = config.pipelines.map((each) => each.name).join(', ');
    throw new Error(`${file} has no pipeline '${name}'. Pipelines: ${names}`);
  }
  const serdes = createPipelineSerdes(pipeline);
  const transform =
    (options.transform as TransformFunction | undefined) ?? (await loadTransform(pipeline.transformPath, { millrace }));
  const deadLetterOf =
    pipeline.deadLetter &&
    createDeadLetters({ ...pipeline.deadLetter, pipeline: name, redact: redactSecrets(config.secrets) });
  return new MemoryPipeline(pipeline, serdes, transform, options.logger ?? SILENT, deadLetterOf);
}

class MemoryPipeline implements TestPipeline {
  readonly #config: PipelineConfig;
  readonly #serdes: PipelineSerdes;
  readonly #transform: RecordTransform;
  readonly #deadLetterOf: DeadLetterOf | null;
  #fed = 0;

  constructor(
    config: PipelineConfig,
    serdes: PipelineSerdes,
    transform: TransformFunction,
    logger: TransformLogger,
    deadLetterOf: DeadLetterOf | null,
  ) {
    this.#config = config;
    this.#serdes = serdes;
    this.#transform = compileTransform({ ...serdes, transform, logger });
    this.#deadLetterOf = deadLetterOf;
  }

  async run(records: readonly TestRecord[]): Promise<TestResult> {
    const outputs = Object.fromEntries(this.#config.outputs.map(({ name }): [string, TestOutput[]] => [name, []]));
    const filtered: TestRecord[] = [];
    const failed: TestFailure[] = [];
    for (const record of records) {
      const written = await this.#process(record);
      if ('error' in written) failed.push(written);
      else if (written.outputs.length === 0) filtered.push(record);
      else for (const output of written.outputs) outputs[output.output]?.push(this.#decode(output));
    }
    return { outputs, filtered, failed };
  }

  async #process(record: TestRecord): Promise<TestFailure | { outputs: readonly OutputRecord[] }> {
    const input = this.#encode(record);
    for (let attempts = 1; ; attempts += 1) {
      try {
        return { outputs: await this.#transform(input, attempts) };
      } catch (thrown) {
        const error = toError(thrown);
        if (isRetriable(error) && attempts < this.#config.retry.attempts) continue;
        const letter = this.#deadLetterOf?.(input, error, attempts);
        return {
          record,
          error,
          attempts,
          letter: letter ? { key: letter.key, value: letter.value, headers: headersOf(letter) } : null,
        };
      }
    }
  }

  #encode(record: TestRecord): InputRecord {
    const { key = null, value, headers, timestamp = DEFAULT_TIMESTAMP, partition = 0, offset = this.#fed } = record;
    const { topic = this.#config.input.topics[0] ?? '' } = record;
    this.#fed += 1;
    const serdes = this.#serdes.input;
    const encoded: InputRecord = {
      topic,
      partition,
      offset,
      timestamp,
      key: toBytes(key, serdes.key),
      value: toBytes(value, serdes.value),
    };
    if (headers !== undefined) encoded.headers = RecordHeaders.from(headers).toRaw();
    return encoded;
  }

  #decode(output: OutputRecord): TestOutput {
    const { topic, key, value, timestamp, partition } = output;
    const serdes = this.#serdes.outputs.find((each) => each.name === output.output);
    return {
      topic,
      key: serdes?.key.decode(key),
      value: serdes?.value.decode(value),
      headers: headersOf(output),
      timestamp,
      ...(partition === undefined ? {} : { partition }),
    };
  }
}

/** As they are on the topic. */
function headersOf({ headers, eventId }: OutputRecord): RecordHeaders {
  const written = RecordHeaders.fromRaw(headers);
  return eventId === undefined ? written : written.append(EVENT_ID, eventId);
}

function toBytes(part: unknown, serde: Serde): Buffer | null {
  return Buffer.isBuffer(part) ? part : serde.encode(part);
}

function ignore(): void {
  // A test that wants to see the log gives a logger.
}
