import { readdirSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { createJiti } from 'jiti';
import { closestMatch } from 'leven';
import type { TransformFunction } from './define-transform.ts';
import { explainLoadError } from './explain-load-error.ts';

/** A transform that can not be used. Its message names the file, the place in it and the remedy. */
export class TransformError extends Error {
  override readonly name = 'TransformError';
}

/**
 * Loads a transform, in TypeScript or JavaScript, ESM or CommonJS. Throws a `TransformError`.
 *
 * @param path Absolute.
 * @param modules What `import … from 'millrace'` gives there, by module name: this process's own, wherever the file lies.
 */
export async function loadTransform(
  path: string,
  modules: Readonly<Record<string, unknown>>,
): Promise<TransformFunction> {
  checkFile(path);
  // jiti keeps every statement on its line, so stack traces show the lines of the source without source maps.
  const jiti = createJiti(path, {
    virtualModules: modules,
    // A container's file system may be read-only, and a transform is compiled in milliseconds.
    fsCache: false,
  });
  let loaded: unknown;
  try {
    loaded = await jiti.import(path);
  } catch (cause) {
    throw new TransformError(`transform ${path}: ${explainLoadError(cause)}`, { cause });
  }
  return defaultExport(path, loaded);
}

function defaultExport(path: string, loaded: unknown): TransformFunction {
  // A CommonJS module may be the function itself.
  const isNamespace = typeof loaded === 'object' && loaded !== null;
  const transform = isNamespace && 'default' in loaded ? loaded.default : loaded;
  if (isFunction(transform)) return transform;

  const remedy = 'write `export default defineTransform((record) => …)`';
  if (transform === loaded) {
    const names = isNamespace ? Object.keys(loaded) : [];
    const instead = names.length === 0 ? 'nothing' : names.join(', ');
    throw new TransformError(`transform ${path}: it has no default export (it exports ${instead}): ${remedy}`);
  }
  throw new TransformError(
    `transform ${path}: its default export is not a function, but ${typeof transform}: ${remedy}`,
  );
}

function isFunction(value: unknown): value is TransformFunction {
  return typeof value === 'function';
}

function checkFile(path: string): void {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (cause) {
    const meant = similarFile(path);
    const hint = meant === undefined ? 'the path is relative to the configuration file' : `did you mean ${meant}?`;
    throw new TransformError(`transform ${path}: there is no such file: ${hint}`, { cause });
  }
  if (!stats.isFile()) throw new TransformError(`transform ${path}: this is a folder: name the file in it`);
}

function similarFile(path: string): string | undefined {
  let files: string[];
  try {
    files = readdirSync(dirname(path));
  } catch {
    // The folder is missing too: there is nothing to propose, and the caller says what is wrong.
    return undefined;
  }
  const name = basename(path, extname(path));
  const sameName = files.find((file) => basename(file, extname(file)) === name);
  const file = sameName ?? closestMatch(basename(path), files, { maxDistance: 3 });
  return file === undefined ? undefined : join(dirname(path), file);
}
