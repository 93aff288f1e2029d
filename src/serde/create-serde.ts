import type { PipelineConfig, SerdeConfig } from '../config/compiled.ts';
import type { Serde } from '../pipeline/ports.ts';
import { createAvroSerde } from './avro.ts';
import { bytesSerde } from './bytes.ts';
import { jsonSerde } from './json.ts';
import { stringSerde } from './string.ts';

/** Reads the schema where the format has one: throws a `SchemaError` that names the file when it can not be used. */
export function createSerde(config: SerdeConfig): Serde {
  switch (config.type) {
    case 'bytes':
      return bytesSerde;
    case 'string':
      return stringSerde;
    case 'json':
      return jsonSerde;
    case 'avro':
      return createAvroSerde(config.schemaPath);
  }
}

export interface KeyValueSerdes {
  readonly key: Serde;
  readonly value: Serde;
}

export interface PipelineSerdes {
  readonly input: KeyValueSerdes;
  readonly outputs: readonly (KeyValueSerdes & { readonly name: string; readonly topic: string })[];
}

/** The serdes of a pipeline, in the shape that `compileTransform` takes. */
export function createPipelineSerdes({ input, outputs }: Pick<PipelineConfig, 'input' | 'outputs'>): PipelineSerdes {
  return {
    input: { key: createSerde(input.key), value: createSerde(input.value) },
    outputs: outputs.map(({ name, topic, key, value }) => ({
      name,
      topic,
      key: createSerde(key),
      value: createSerde(value),
    })),
  };
}
