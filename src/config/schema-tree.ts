import * as z from 'zod';
import { either } from './fields.ts';
import type { Path } from './syntax.ts';

/** A spec, or a part of one. */
export type Schema = z.core.$ZodType;

/** The spec of the field at a path, or undefined where there is no such field. */
export function schemaAt(schema: Schema, path: Path): Schema | undefined {
  return path.reduce<Schema | undefined>(partOf, schema);
}

/** The spec of the names in a mapping whose names the user chooses. */
export function namesIn(schema: Schema | undefined): Schema | undefined {
  const block = bare(schema);
  return block instanceof z.ZodRecord ? block.keyType : undefined;
}

export function fieldsOf(schema: Schema | undefined): string[] {
  const block = bare(schema);
  if (block instanceof z.ZodObject) return Object.keys(block.shape);
  if (block instanceof z.ZodUnion) return block.options.flatMap(fieldsOf);
  return [];
}

/** What a field takes, in words. */
export function allowed(schema: Schema | undefined): string {
  return ownWords(schema) ?? `a mapping with the fields ${fieldsOf(schema).join(', ')}`;
}

/** What may stand as a field in a block, in words. */
export function allowedIn(schema: Schema | undefined): string {
  return ownWords(schema) ?? either(fieldsOf(schema));
}

/**
 * What is left of a value when each part that is not right is taken as missing. Where all is right it is what the
 * schema makes of it.
 */
export function salvage(schema: Schema, value: unknown): unknown {
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  const block = bare(schema);
  const part = (step: PropertyKey, inner: unknown) => {
    const innerSchema = partOf(block, step);
    return innerSchema && salvage(innerSchema, inner);
  };
  if (block instanceof z.ZodArray && Array.isArray(value)) return value.map((inner, index) => part(index, inner));
  if (!isBlock(value)) return undefined;
  const names = block instanceof z.ZodObject ? Object.keys(block.shape) : Object.keys(value);
  return Object.fromEntries(names.map((name) => [name, part(name, value[name])]));
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((block, step) => (isBlock(block) ? block[step] : undefined), value);
}

function isBlock(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Without the default around it. */
function bare(schema: Schema | undefined): Schema | undefined {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault ? bare(schema.unwrap()) : schema;
}

function partOf(schema: Schema | undefined, step: PropertyKey): Schema | undefined {
  const block = bare(schema);
  if (block instanceof z.ZodObject) return (block.shape as z.core.$ZodShape)[String(step)];
  if (block instanceof z.ZodRecord) return block.valueType;
  if (block instanceof z.ZodArray) return block.element;
  if (block instanceof z.ZodUnion) return block.options.map((option) => partOf(option, step)).find(Boolean);
  return undefined;
}

function ownWords(schema: Schema | undefined): string | undefined {
  const inner = bare(schema);
  return inner && z.globalRegistry.get(inner)?.allowed;
}
