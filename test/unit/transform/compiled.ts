import type { InputRecord, OutputRecord, RecordTransform } from '../../../src/pipeline/ports.ts';
import type { SerdeConfig } from '../../../src/config/compiled.ts';
import { createSerde } from '../../../src/serde/create-serde.ts';
import { compileTransform } from '../../../src/transform/compile-transform.ts';
import type { TransformFunction, TransformLogger } from '../../../src/transform/define-transform.ts';

export const silent: TransformLogger = { debug() {}, info() {}, warn() {}, error() {} };

interface Formats {
  key?: SerdeConfig['type'];
  value?: SerdeConfig['type'];
  outputKey?: SerdeConfig['type'];
  outputs?: readonly string[];
  logger?: TransformLogger;
}

const serde = (type: SerdeConfig['type']) => createSerde({ type } as SerdeConfig);

/** A transform compiled for string keys, JSON values and one output, unless told otherwise. */
export function compiled(transform: TransformFunction, formats: Formats = {}): RecordTransform {
  const { key = 'string', value = 'json', outputKey = key, outputs = ['out'], logger = silent } = formats;
  return compileTransform({
    transform,
    logger,
    input: { key: serde(key), value: serde(value) },
    outputs: outputs.map((name) => ({ name, topic: `topic.${name}`, key: serde(outputKey), value: serde(value) })),
  });
}

/** Record 42 of partition 3 of topic `flights`. */
export function record(changes: Partial<InputRecord> = {}): InputRecord {
  return {
    topic: 'flights',
    partition: 3,
    offset: 42,
    timestamp: 1_700_000_000_000,
    key: Buffer.from('SFO'),
    value: Buffer.from('{"delay":17}'),
    ...changes,
  };
}

/** What a synchronous transform made of a record; fails when it made a promise. */
export function outputsOf(result: ReturnType<RecordTransform>): readonly OutputRecord[] {
  if (result instanceof Promise) throw new Error('a promise where none was expected');
  return result;
}

/** What a transform throws for a record. */
export function errorOf(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`not an Error was thrown: ${String(error)}`, { cause: error });
  }
  throw new Error('nothing was thrown');
}
