import { inspect } from 'node:util';
import { closestMatch } from 'leven';
import type { InputRecord, OutputRecord, RawHeaders, Serde } from '../pipeline/ports.ts';
import type { TransformOutput } from './define-transform.ts';
import { EncodeError, InvalidOutputError, toError } from './errors.ts';
import type { EventIds } from './event-id.ts';
import { type HeadersInit, RecordHeaders } from './record-headers.ts';
import type { SourceRecord } from './source-record.ts';

const FIELDS: ReadonlySet<string> = new Set<keyof TransformOutput<unknown>>([
  'key',
  'value',
  'headers',
  'timestamp',
  'to',
  'partition',
]);

export interface OutputPlan {
  readonly name: string;
  readonly topic: string;
  readonly key: Serde;
  readonly value: Serde;
}

/** Turns what a transform returned into records to produce. */
export class OutputEncoder {
  readonly #outputs: ReadonlyMap<string, OutputPlan>;
  /** The output where there is only one: then `to` may be left out. */
  readonly #only: OutputPlan | undefined;
  readonly #inputKey: Serde;
  readonly #ids: EventIds;

  constructor(outputs: readonly OutputPlan[], inputKey: Serde, ids: EventIds) {
    this.#outputs = new Map(outputs.map((output) => [output.name, output]));
    this.#only = outputs.length === 1 ? outputs[0] : undefined;
    this.#inputKey = inputKey;
    this.#ids = ids;
  }

  /** `result` is what the transform returned or resolved to, whatever it may be. Throws an `EncodeError` or an `InvalidOutputError`. */
  encode(
    result: unknown,
    source: SourceRecord,
    record: InputRecord,
    brought: Buffer | undefined,
  ): readonly OutputRecord[] {
    if (result === undefined || result === null) return [];
    if (!Array.isArray(result)) return [this.#encodeOne(result, 0, source, record, brought)];
    // Not map(), which would pass over a hole in the array and leave it in what is produced.
    const encoded: OutputRecord[] = [];
    for (let index = 0; index < result.length; index += 1) {
      encoded.push(this.#encodeOne(result[index], index, source, record, brought));
    }
    return encoded;
  }

  #encodeOne(
    result: unknown,
    index: number,
    source: SourceRecord,
    record: InputRecord,
    brought: Buffer | undefined,
  ): OutputRecord {
    if (typeof result !== 'object' || result === null) {
      throw invalid(index, `expected { value, … }, found ${shown(result)}`);
    }
    // Only its author knows the type for sure, so each field is checked before it is used. TypeScript does not see a misspelt one.
    for (const name in result) if (!FIELDS.has(name)) throw invalid(index, unknownField(name));
    const { key, value, headers, timestamp, to, partition } = result as Partial<TransformOutput<unknown, unknown>>;
    const output = to === undefined && this.#only !== undefined ? this.#only : this.#outputNamed(to, index);
    if (value === undefined) {
      throw invalid(index, 'its `value` is missing: give `value`, or `value: null` for a tombstone');
    }
    const encoded: OutputRecord = {
      output: output.name,
      topic: output.topic,
      key: this.#encodeKey(key, output, index, source, record),
      value: encodePart('value', value, output.value, output, index),
      timestamp: timestamp === undefined ? record.timestamp : checkTimestamp(timestamp, index),
      // All outputs have one shape: what is to be added to an object costs more, and so do objects of several shapes.
      partition: partition === undefined ? undefined : checkPartition(partition, index),
      eventId: undefined,
      headers: undefined,
    };
    this.#ids.stamp(encoded, headers === undefined ? record.headers : toRaw(headers, index), record, brought, index);
    return encoded;
  }

  /** An inherited key keeps its bytes where both sides have one format: what is written back may differ, and with it the partition. */
  #encodeKey(
    key: unknown,
    output: OutputPlan,
    index: number,
    source: SourceRecord,
    record: InputRecord,
  ): Buffer | null {
    const inherited = key === undefined || (key === source.key && typeof key !== 'object');
    if (inherited && output.key.name === this.#inputKey.name) return record.key;
    return encodePart('key', key === undefined ? source.key : key, output.key, output, index);
  }

  #outputNamed(to: unknown, index: number): OutputPlan {
    const output = typeof to === 'string' ? this.#outputs.get(to) : undefined;
    if (output !== undefined) return output;
    const names = [...this.#outputs.keys()];
    if (to === undefined) {
      throw invalid(index, `its \`to\` is missing, and there are several outputs: ${names.join(', ')}`);
    }
    const hint = typeof to === 'string' ? didYouMean(to, names) : '';
    throw invalid(index, `its \`to\` is ${shown(to)}, which is no output. Outputs: ${names.join(', ')}${hint}`);
  }
}

function encodePart(
  part: 'key' | 'value',
  value: unknown,
  serde: Serde,
  output: OutputPlan,
  index: number,
): Buffer | null {
  try {
    return serde.encode(value);
  } catch (thrown) {
    const cause = toError(thrown);
    const format = serde.name.startsWith('avro') ? 'avro' : serde.name;
    const setting = `written as ${format} (outputs.${output.name}.${part})`;
    throw new EncodeError(`${part} of output ${index} to ${output.name}, ${setting}: ${cause.message}`, { cause });
  }
}

function toRaw(headers: HeadersInit, index: number): RawHeaders {
  try {
    return RecordHeaders.from(headers).toRaw();
  } catch (thrown) {
    const cause = toError(thrown);
    throw invalid(index, cause.message, cause);
  }
}

function checkTimestamp(timestamp: unknown, index: number): number {
  if (typeof timestamp === 'number' && Number.isSafeInteger(timestamp) && timestamp >= 0) return timestamp;
  throw invalid(
    index,
    `its \`timestamp\` must be a whole number of milliseconds since 1970, found ${shown(timestamp)}`,
  );
}

function checkPartition(partition: unknown, index: number): number {
  if (typeof partition === 'number' && Number.isInteger(partition) && partition >= 0 && partition < 2 ** 31)
    return partition;
  throw invalid(index, `its \`partition\` must be an integer from 0, found ${shown(partition)}`);
}

function unknownField(name: string): string {
  return `it has a field \`${name}\`, which is none of ${[...FIELDS].join(', ')}${didYouMean(name, [...FIELDS])}`;
}

function didYouMean(name: string, known: readonly string[]): string {
  const meant = closestMatch(name, known, { maxDistance: Math.max(2, name.length / 4) });
  return meant === undefined ? '' : `; did you mean '${meant}'?`;
}

function invalid(index: number, what: string, cause?: Error): InvalidOutputError {
  return new InvalidOutputError(`output ${index} of the transform: ${what}`, { cause });
}

function shown(value: unknown): string {
  return inspect(value, { depth: 0, maxStringLength: 40, maxArrayLength: 3, breakLength: Infinity });
}
