import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { whyUnreadable } from './why-unreadable.ts';

/** Where the values of `${…}` come from. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that `${file:…}` paths are relative to. */
  readonly folder: string;
}

interface Substitution {
  readonly text: string;
  /** The variables and files that the text was made from, as written: `${PORT}`. */
  readonly origins: readonly string[];
  /** Substituted values that must never be printed. */
  readonly secrets: readonly string[];
  /** What was wrong, in words; the text is not to be used when there is anything. */
  readonly errors: readonly string[];
}

const SECRET_NAME = /passw|passphrase|pwd|secret|token|credential|key/i;

/** Whether a variable or client property of this name is taken to hold a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

const REFERENCE = /\$\$|\$\{([^}]*)(\}?)/g;
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
const FORMS = 'use ${VAR}, ${VAR:-default} or ${file:path}, and $$ for a plain $';

/**
 * Replaces `${VAR}`, `${VAR:-default}`, `${file:path}` and `$$` in one scalar. It is one pass over the text as
 * written, so a value that itself holds a `$` stays as it is. As in a shell, `:-` also stands in for an empty variable.
 */
export function substitute(text: string, { env, folder }: Surroundings): Substitution {
  const origins: string[] = [];
  const secrets: string[] = [];
  const errors: string[] = [];

  function variable(reference: string, name: string, fallback: string | undefined): string {
    const value = fallback === undefined ? env[name] : env[name] || fallback;
    if (value === undefined) {
      errors.push(
        `the variable ${name} is not set: set it, give a default with \${${name}:-…}, or write $$ for a plain $`,
      );
      return '';
    }
    origins.push(reference);
    if (isSecretName(name)) secrets.push(value);
    return value;
  }

  function file(reference: string, path: string): string {
    try {
      const value = readFileSync(resolve(folder, path), 'utf8').replace(/\r?\n$/, '');
      origins.push(reference);
      secrets.push(value);
      return value;
    } catch (error) {
      errors.push(`${reference} can not be read (${whyUnreadable(error)}): see that the file is there and readable`);
      return '';
    }
  }

  const result = text.replace(REFERENCE, (reference: string, body: string | undefined, end: string | undefined) => {
    if (body === undefined) return '$';
    const parts = VARIABLE.exec(body);
    if (!end) errors.push('a ${ has no closing }');
    else if (body.includes('${')) errors.push('a default can not hold another ${…}');
    else if (body.startsWith('file:')) return file(reference, body.slice('file:'.length));
    else if (!parts?.[1]) errors.push(`"\${" is followed by something that is not a variable's name: ${FORMS}`);
    else return variable(reference, parts[1], parts[2]);
    return '';
  });
  return { text: result, origins, secrets: secrets.filter(Boolean), errors };
}
