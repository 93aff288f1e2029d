import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { toError } from './errors.ts';
import { userFrames } from './stack.ts';

/** Where in a file. Line and column count from 1. */
interface Place {
  readonly file: string;
  readonly line: number;
  /** Absent where only the compiled code's is known. */
  readonly column?: number;
}

/** jiti ends the message of a syntax error with its place on a line of its own; its columns count from 0. */
const SYNTAX_ERROR = /^ParseError: ([\s\S]*?)\s+(\S.*):(\d+):(\d+)$/;
const MISSING_MODULE = /^Cannot find (?:module|package) '([^']+)'/;

/** What went wrong while a module was loaded, where, and what to do, for whoever wrote the module. */
export function explainLoadError(thrown: unknown): string {
  const error = toError(thrown);
  const syntax = SYNTAX_ERROR.exec(error.message);
  if (syntax !== null) {
    const [, reason = '', file = '', line, column] = syntax;
    const place = { file, line: Number(line), column: Number(column) + 1 };
    return `syntax error: ${reason}${located(place)}`;
  }
  // What is no Error has no stack of its own.
  const place = error === thrown ? userFrames(error)[0] : undefined;
  const missing = MISSING_MODULE.exec(error.message)?.[1];
  if (missing !== undefined && 'code' in error) return `${missingModule(missing, place)}${located(place)}`;
  return `it threw while it was loaded: ${error.message}${located(place)}`;
}

function missingModule(specifier: string, place: Place | undefined): string {
  if (/^[./]|^file:/.test(specifier)) return `it imports '${specifier}', which does not exist`;
  const folder = place === undefined ? 'its folder' : dirname(place.file);
  const [scopeOrName = specifier, name] = specifier.split('/');
  const packageName = scopeOrName.startsWith('@') && name !== undefined ? `${scopeOrName}/${name}` : scopeOrName;
  return `it imports '${specifier}', which is not installed: run \`npm install ${packageName}\` where ${folder} finds it`;
}

/** The place and its line, with a mark under the column, as an appendix to a message. */
function located(place: Place | undefined): string {
  if (place === undefined) return '';
  const { file, line, column } = place;
  const text = readLine(file, line);
  const excerpt = text === undefined ? '' : `\n    ${line} | ${text}`;
  if (column === undefined) return `\n  at ${file}:${line}${excerpt}`;
  const mark = text === undefined ? '' : `\n${' '.repeat(`    ${line} | `.length + column - 1)}^`;
  return `\n  at ${file}:${line}:${column}${excerpt}${mark}`;
}

function readLine(file: string, line: number): string | undefined {
  try {
    return readFileSync(file, 'utf8').split('\n')[line - 1];
  } catch {
    // The place is known all the same; the excerpt only saves a look.
    return undefined;
  }
}
