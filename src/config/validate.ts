import { closestMatch } from 'leven';
import * as z from 'zod';
import { either } from './fields.ts';
import type { ConfigSource } from './source.ts';
import type { Path } from './syntax.ts';

type Issue = z.core.$ZodIssue;

/** What a value looks like in which each part may be missing, because it was wrong. */
export type Salvaged<T> = T extends readonly (infer U)[]
  ? readonly Salvaged<U>[] | undefined
  : T extends object
    ? { readonly [K in keyof T]?: Salvaged<T[K]> } | undefined
    : T | undefined;

/** A key that is not there, or not in this version; anything else in `string` is the reason why it is refused. */
export type Refusal = (path: Path) => string | undefined;

/**
 * Checks a value against its spec and reports each problem at its place. Returns what is right in it, so that rules
 * over several fields can be tried in the same run.
 */
export function validate<S extends z.ZodType>(
  schema: S,
  source: ConfigSource,
  refusal: Refusal,
): Salvaged<z.output<S>> {
  const { error } = schema.safeParse(source.value);
  const typos = new Set<string>();
  const missing: Path[] = [];

  function report(issue: Issue, around: Path): void {
    const path = [...around, ...issue.path];
    switch (issue.code) {
      case 'unrecognized_keys':
        for (const key of issue.keys) reportUnknown([...path, key]);
        break;
      case 'invalid_key': {
        source.reportKey(
          path,
          `this name can not be used, allowed: ${allowed(keysOf(schemaAt(schema, path.slice(0, -1))))}`,
        );
        // The value of a wrong key was not looked at.
        const value = schemaAt(schema, path);
        const issues = value && z.safeParse(value, valueAt(source.value, path)).error?.issues;
        for (const inner of issues ?? []) report(inner, path);
        break;
      }
      case 'invalid_union': {
        const alternatives = issue.errors.filter((issues) => !issues.some(isOfAnotherKind));
        const [only] = alternatives;
        if (only && alternatives.length === 1) for (const inner of only) report(inner, path);
        else reportValue(path);
        break;
      }
      default:
        if (valueAt(source.value, path) === undefined) missing.push(path);
        else reportValue(path);
    }
  }

  function reportValue(path: Path): void {
    source.report(path, `allowed: ${allowed(schemaAt(schema, path))}`);
  }

  function reportUnknown(path: Path): void {
    const block = path.slice(0, -1);
    const reason = refusal(path);
    if (reason !== undefined) return source.reportKey(path, reason);
    const known = fieldsOf(schemaAt(schema, block));
    const meant = suggestion(String(path.at(-1)), known);
    if (meant !== undefined) typos.add([...block, meant].join('\0'));
    source.reportKey(
      path,
      `unknown field, ${meant === undefined ? `allowed: ${either(known)}` : `did you mean "${meant}"?`}`,
    );
  }

  for (const issue of error?.issues ?? []) report(issue, []);
  for (const path of missing) {
    // A field that was only misspelt is not missing as well.
    if (!typos.has(path.join('\0'))) source.report(path, `missing, needs: ${allowed(schemaAt(schema, path))}`);
  }
  return salvage(schema, source.value) as Salvaged<z.output<S>>;
}

function isOfAnotherKind({ code, path }: Issue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

/** The nearest of the known names, when it is near enough to be what was meant. */
export function suggestion(name: string, known: readonly string[]): string | undefined {
  return closestMatch(name, known, { maxDistance: Math.max(2, Math.floor(name.length / 4)) });
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((block, step) => (isBlock(block) ? block[step] : undefined), value);
}

function isBlock(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Without the default around it. */
function bare(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault ? bare(schema.unwrap()) : schema;
}

function partOf(schema: z.core.$ZodType | undefined, step: PropertyKey): z.core.$ZodType | undefined {
  const block = bare(schema);
  if (block instanceof z.ZodObject) return (block.shape as z.core.$ZodShape)[String(step)];
  if (block instanceof z.ZodRecord) return block.valueType;
  if (block instanceof z.ZodArray) return block.element;
  if (block instanceof z.ZodUnion) return block.options.map((option) => partOf(option, step)).find(Boolean);
  return undefined;
}

function schemaAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType | undefined {
  return path.reduce<z.core.$ZodType | undefined>(partOf, schema);
}

function keysOf(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  const block = bare(schema);
  return block instanceof z.ZodRecord ? block.keyType : undefined;
}

function fieldsOf(schema: z.core.$ZodType | undefined): string[] {
  const block = bare(schema);
  if (block instanceof z.ZodObject) return Object.keys(block.shape);
  if (block instanceof z.ZodUnion) return block.options.flatMap(fieldsOf);
  return [];
}

function allowed(schema: z.core.$ZodType | undefined): string {
  const inner = bare(schema);
  const words = inner && z.globalRegistry.get(inner)?.allowed;
  if (words) return words;
  const fields = fieldsOf(inner);
  return fields.length > 0 ? `a mapping with the fields ${fields.join(', ')}` : 'a mapping';
}

function salvage(schema: z.core.$ZodType, value: unknown): unknown {
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
