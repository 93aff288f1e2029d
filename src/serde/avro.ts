import { readFileSync } from 'node:fs';
import avro, { type Schema, type Type } from 'avsc';
import { whyUnreadable } from '../config/why-unreadable.ts';
import type { Serde } from '../pipeline/ports.ts';
import { DecimalType } from './avro-decimal.ts';
import { exactLong } from './avro-long.ts';
import { found } from './found.ts';

const NUMBERS = new Set(['int', 'long', 'float', 'double']);

/** A schema that can not be used. Its message names the file. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** Plain Avro binary of one schema, without a header of any kind. Throws a `SchemaError` when the file can not be used. */
export function createAvroSerde(schemaPath: string): Serde {
  const type = loadType(schemaPath);
  return {
    name: `avro ${schemaPath}`,

    decode(bytes) {
      if (bytes === null) return null;
      const value: unknown = decode(type, bytes);
      if (value === null) throw new Error('Avro null can not be told from a tombstone: read it as bytes');
      return value;
    },

    encode(value) {
      if (value === null) return null;
      try {
        return type.toBuffer(value);
      } catch (cause) {
        throw new Error(explain(type, value) ?? messageOf(cause), { cause });
      }
    },
  };
}

function decode(type: Type, bytes: Buffer): unknown {
  try {
    return type.fromBuffer(bytes);
  } catch (cause) {
    throw new Error(`not Avro of schema ${type.name ?? type.typeName}: ${messageOf(cause)}`, { cause });
  }
}

/** The first place where a value does not fit its schema, or null where avsc finds none. */
function explain(type: Type, value: unknown): string | null {
  let reason: string | null = null;
  try {
    type.isValid(value, {
      errorHook(path, part: unknown, expected) {
        reason ??= `${path.length === 0 ? 'the value' : path.join('.')}: expected ${expectation(expected)}, found ${found(part)}`;
      },
    });
  } catch {
    // avsc throws where a value fits several branches of a union; the error that toBuffer threw says the same.
  }
  return reason;
}

function expectation(type: Type): string {
  const schema = JSON.stringify(type.schema({ exportAttrs: false, noDeref: true }));
  const text = type.name ?? schema.replaceAll('"', '');
  return type instanceof DecimalType ? `decimal (as text) ${text}` : text;
}

function loadType(schemaPath: string): Type {
  let text: string;
  try {
    text = readFileSync(schemaPath, 'utf8');
  } catch (cause) {
    throw new SchemaError(`Avro schema ${schemaPath}: the file can not be read: ${whyUnreadable(cause)}`, { cause });
  }
  let schema: Schema;
  try {
    schema = JSON.parse(text) as Schema;
  } catch (cause) {
    throw new SchemaError(`Avro schema ${schemaPath}: not JSON: ${messageOf(cause)}`, { cause });
  }
  try {
    return avro.Type.forSchema(schema, {
      logicalTypes: { decimal: DecimalType },
      omitRecordMethods: true,
      typeHook: chooseType,
    });
  } catch (cause) {
    throw new SchemaError(`Avro schema ${schemaPath}: not a valid schema: ${messageOf(cause)}`, { cause });
  }
}

/** Our own type for a schema, or undefined for avsc's. */
function chooseType(schema: Schema, options: unknown): Type | undefined {
  if (Array.isArray(schema)) return isAmbiguous(schema) ? new avro.types.WrappedUnionType(schema, options) : undefined;
  return avroName(schema) === 'long' ? exactLong : undefined;
}

/**
 * True where the value alone does not say which branch it is. avsc finds that by itself for its own types, not for ours:
 * several kinds of number, or text beside a decimal.
 */
function isAmbiguous(branches: readonly Schema[]): boolean {
  const numbers = branches.filter((branch) => NUMBERS.has(avroName(branch)));
  const decimals = branches.filter(isDecimal);
  const texts = branches.filter((branch) => ['string', 'enum'].includes(avroName(branch)));
  return numbers.length > 1 || decimals.length + texts.length > 1;
}

function avroName(schema: Schema): string {
  if (typeof schema === 'string') return schema;
  return 'type' in schema && typeof schema.type === 'string' ? schema.type : '';
}

function isDecimal(schema: Schema): boolean {
  return typeof schema === 'object' && 'logicalType' in schema && schema.logicalType === 'decimal';
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
