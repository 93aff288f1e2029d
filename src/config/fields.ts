import * as z from 'zod';
import { DURATION, SIZE } from './units.ts';
import type { Unit } from './units.ts';

/**
 * The kinds of fields. Each is a schema whose metadata says in words what it takes: error messages, the reference and
 * the JSON Schema all print that.
 */
declare module 'zod' {
  interface GlobalMeta {
    /** What the field takes, in words that fit after "allowed:". */
    allowed?: string;
  }
}

interface Bounds<T> {
  readonly min: T;
  readonly max: T;
}

export function integer({ min, max }: Bounds<number>) {
  return z.preprocess(numeric, z.int().min(min).max(max)).meta({ allowed: `a whole number from ${min} to ${max}` });
}

export function decimal({ min, max }: Bounds<number>) {
  return z.preprocess(numeric, z.number().min(min).max(max)).meta({ allowed: `a number from ${min} to ${max}` });
}

export function flag() {
  return z.preprocess(booleanLike, z.boolean()).meta({ allowed: 'true or false' });
}

/** What came out of a `${…}` is text: where a number or a truth value is asked for, it is read as one. */
function numeric(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
}

function booleanLike(value: unknown): unknown {
  return value === 'true' ? true : value === 'false' ? false : value;
}

export function choice<const T extends readonly [string, ...string[]]>(...words: T) {
  return z.enum(words).meta({ allowed: either(words) });
}

/** One of the client's own words, in any case, as the client takes it. */
export function word(known: readonly string[]) {
  const canonical = new Map(known.map((each) => [each.toLowerCase(), each]));
  return z
    .preprocess((value) => (typeof value === 'string' ? canonical.get(value.toLowerCase()) : value), z.enum(known))
    .meta({ allowed: either(known) });
}

/** A list of such words with commas between them. */
export function words(known: readonly string[]) {
  const one = known.join('|');
  return z
    .string()
    .regex(new RegExp(`^(${one})(,(${one}))*$`))
    .meta({ allowed: `words with commas between them: ${known.join(', ')}` });
}

/** In milliseconds after parsing. */
export function duration(bounds: Bounds<string>) {
  return quantity(DURATION, bounds);
}

/** In bytes after parsing. */
export function size(bounds: Bounds<string>) {
  return quantity(SIZE, bounds);
}

function quantity({ noun, pattern, names, parse }: Unit, { min, max }: Bounds<string>) {
  return z
    .string()
    .regex(pattern)
    .transform(parse)
    .pipe(z.number().min(parse(min)).max(parse(max)))
    .meta({ allowed: `a ${noun} from ${min} to ${max}, with its unit (${either(names)})` });
}

/** A part of group and transactional ids. */
export function name({ max }: { max: number }) {
  return z
    .string()
    .regex(new RegExp(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,${max - 1}}$`))
    .meta({ allowed: `a name of at most ${max} letters, digits, ".", "_" and "-" that begins with a letter or digit` });
}

/** By the broker's own rule. */
export function topic() {
  return z
    .string()
    .regex(/^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$/)
    .meta({ allowed: 'a topic\'s name: at most 249 letters, digits, ".", "_" and "-", and not "." or ".."' });
}

export function path(example: string) {
  return z
    .string()
    .min(1)
    .meta({ allowed: `a path, relative to the configuration file's folder, such as ${example}` });
}

export function text() {
  return z.string().min(1).meta({ allowed: 'text; what YAML would read as something else needs quotes' });
}

export function either(words: readonly string[]): string {
  return words.length === 1 ? `${words[0]}` : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
