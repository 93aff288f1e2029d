import { closestMatch } from 'leven';
import * as z from 'zod';
import { allowed, allowedIn, fieldsOf, namesIn, salvage, schemaAt, valueAt } from './schema-tree.ts';
import type { Schema } from './schema-tree.ts';
import type { ConfigSource } from './source.ts';
import type { Path } from './syntax.ts';

type Issue = z.core.$ZodIssue;

/** A value in which each part may be missing, because it was wrong. */
export type Salvaged<T> = T extends readonly (infer U)[]
  ? readonly Salvaged<U>[] | undefined
  : T extends object
    ? { readonly [K in keyof T]?: Salvaged<T[K]> } | undefined
    : T | undefined;

/** Why a field that the spec does not know can not be there, where there is more to say than that. */
export type Refusal = (path: Path) => string | undefined;

/**
 * Checks a file against its spec and reports each problem at its place. Returns what is right in it, so that rules
 * over several fields can be tried in the same run.
 */
export function validate<S extends z.ZodType>(
  schema: S,
  source: ConfigSource,
  refusal: Refusal,
): Salvaged<z.output<S>> {
  new Validation(schema, source, refusal).run();
  return salvage(schema, source.value) as Salvaged<z.output<S>>;
}

class Validation {
  readonly #schema: Schema;
  readonly #source: ConfigSource;
  readonly #refusal: Refusal;
  readonly #missing = new Map<string, Path>();
  /** Missing fields that stand there under a misspelt name. */
  readonly #misspelt = new Set<string>();

  constructor(schema: Schema, source: ConfigSource, refusal: Refusal) {
    this.#schema = schema;
    this.#source = source;
    this.#refusal = refusal;
  }

  run(): void {
    this.#report(z.safeParse(this.#schema, this.#source.value).error?.issues, []);
    for (const [key, path] of this.#missing) {
      if (!this.#misspelt.has(key)) this.#source.report(path, `missing, needs: ${allowed(this.#at(path))}`);
    }
  }

  #report(issues: readonly Issue[] = [], around: Path): void {
    for (const issue of issues) {
      const path = [...around, ...issue.path];
      switch (issue.code) {
        case 'unrecognized_keys':
          for (const key of issue.keys) this.#reportUnknown([...path, key]);
          break;
        case 'invalid_key':
          this.#reportName(path);
          break;
        case 'invalid_union':
          this.#reportUnion(issue.errors, path);
          break;
        default:
          this.#reportValue(path);
      }
    }
  }

  #reportValue(path: Path): void {
    if (valueAt(this.#source.value, path) === undefined) this.#missing.set(idOf(path), path);
    else this.#source.report(path, `allowed: ${allowed(this.#at(path))}`);
  }

  #reportUnknown(path: Path): void {
    const reason = this.#refusal(path);
    if (reason !== undefined) return this.#source.reportKey(path, reason);
    const around = path.slice(0, -1);
    const block = this.#at(around);
    const meant = suggestion(String(path.at(-1)), fieldsOf(block));
    if (meant !== undefined) this.#misspelt.add(idOf([...around, meant]));
    const remedy = meant === undefined ? `allowed: ${allowedIn(block)}` : `did you mean "${meant}"?`;
    this.#source.reportKey(path, `unknown field, ${remedy}`);
  }

  #reportName(path: Path): void {
    const names = namesIn(this.#at(path.slice(0, -1)));
    this.#source.reportKey(path, `this name can not be used, allowed: ${allowed(names)}`);
    // What has a wrong name was not looked at.
    const named = this.#at(path);
    if (named) this.#report(z.safeParse(named, valueAt(this.#source.value, path)).error?.issues, path);
  }

  /** Where the value is of the kind of one alternative only, that one's problems say more. */
  #reportUnion(alternatives: readonly (readonly Issue[])[], path: Path): void {
    const [meant, ...others] = alternatives.filter((issues) => !issues.some(isOfAnotherKind));
    if (meant && others.length === 0) this.#report(meant, path);
    else this.#reportValue(path);
  }

  #at(path: Path): Schema | undefined {
    return schemaAt(this.#schema, path);
  }
}

function idOf(path: Path): string {
  return path.join('\0');
}

function isOfAnotherKind({ code, path }: Issue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

/** The nearest of the known names, when it is near enough to be what was meant. */
export function suggestion(name: string, known: readonly string[]): string | undefined {
  return closestMatch(name, known, { maxDistance: Math.min(3, Math.ceil(name.length / 3)) });
}
