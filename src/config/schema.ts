import * as z from 'zod';
import { configuration } from './spec.ts';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The spec as JSON Schema, with what each field takes in words under `allowed`. */
export function describedSchema(): JsonSchema {
  return z.toJSONSchema(configuration, { io: 'input' });
}

/**
 * The JSON Schema (draft 2020-12) of a configuration file, as an editor can use it. Wherever a number, a choice or a
 * quantity is asked for, a text with `${…}` will do as well.
 */
export function configSchema(): JsonSchema {
  return {
    title: 'Millrace configuration',
    ...forEditors(describedSchema()),
    $defs: {
      substituted: { type: 'string', pattern: '\\$\\{[^}]+\\}', description: 'Filled in from a variable or a file.' },
    },
  };
}

type Part = JsonSchema | boolean;

function forEditors(schema: JsonSchema, substitutable = isNarrow(schema)): JsonSchema {
  const { allowed, description, default: preset, ...rest } = schema;
  const shape: JsonSchema = { ...rest };
  if (schema.properties) shape.properties = mapValues(schema.properties, forPart);
  if (schema.additionalProperties) shape.additionalProperties = forPart(schema.additionalProperties);
  // Names are taken as they are written.
  if (typeof schema.propertyNames === 'object') shape.propertyNames = forEditors(schema.propertyNames, false);
  if (schema.items) shape.items = Array.isArray(schema.items) ? schema.items.map(forPart) : forPart(schema.items);
  if (schema.anyOf) shape.anyOf = schema.anyOf.map((option) => forEditors(option));
  const words = [description, typeof allowed === 'string' && `Takes ${allowed}.`].filter(Boolean).join(' ');
  return {
    ...(words && { description: words }),
    // A block that may be left out has the defaults of its fields, which say more.
    ...(preset !== undefined && schema.type !== 'object' && { default: preset }),
    ...(substitutable ? { anyOf: [shape, { $ref: '#/$defs/substituted' }] } : shape),
  };
}

function forPart(part: Part): Part {
  return typeof part === 'boolean' ? part : forEditors(part);
}

/** Whether it is a scalar that a text with a `${…}` in it would not fit. */
function isNarrow({ type, enum: words, pattern }: JsonSchema): boolean {
  return type === 'integer' || type === 'number' || type === 'boolean' || words !== undefined || pattern !== undefined;
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
