import { readdirSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { createJiti } from 'jiti';
import { closestMatch } from 'leven';
import { explainLoadError } from './explain-load-error.ts';

/** A module of the user's that can not be used. Its message names the file, the place in it and the remedy. */
export class ModuleError extends Error {
  override readonly name = 'ModuleError';
}

export interface ModuleOptions<T> {
  /** What the module is to the user, in a word: `transform`. */
  readonly noun: string;
  /** Absolute. */
  readonly path: string;
  /** What `import … from 'millrace'` gives there, by module name: this process's own, wherever the file lies. */
  readonly modules: Readonly<Record<string, unknown>>;
  /** What the default export has to be: how it is told, what it is called, and how to write it. */
  readonly accepts: (exported: unknown) => exported is T;
  readonly wanted: string;
  readonly remedy: string;
}

/** Loads the default export of a module, in TypeScript or JavaScript, ESM or CommonJS. Throws a `ModuleError`. */
export async function loadModule<T>(options: ModuleOptions<T>): Promise<T> {
  const { noun, path, modules } = options;
  checkFile(noun, path);
  // jiti keeps every statement on its line, so stack traces show the lines of the source without source maps.
  const jiti = createJiti(path, {
    virtualModules: modules,
    // A container's file system may be read-only, and a module is compiled in milliseconds.
    fsCache: false,
  });
  let loaded: unknown;
  try {
    loaded = await jiti.import(path);
  } catch (cause) {
    throw new ModuleError(`${noun} ${path}: ${explainLoadError(cause)}`, { cause });
  }
  return defaultExport(options, loaded);
}

function defaultExport<T>({ noun, path, accepts, wanted, remedy }: ModuleOptions<T>, loaded: unknown): T {
  // A CommonJS module may be what is wanted itself.
  const isNamespace = typeof loaded === 'object' && loaded !== null;
  const exported = isNamespace && 'default' in loaded ? loaded.default : loaded;
  if (accepts(exported)) return exported;

  if (exported === loaded) {
    const names = isNamespace ? Object.keys(loaded) : [];
    const instead = names.length === 0 ? 'nothing' : names.join(', ');
    throw new ModuleError(`${noun} ${path}: it has no default export (it exports ${instead}): ${remedy}`);
  }
  throw new ModuleError(`${noun} ${path}: its default export is not ${wanted}, but ${typeof exported}: ${remedy}`);
}

function checkFile(noun: string, path: string): void {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (cause) {
    const meant = similarFile(path);
    const hint = meant === undefined ? 'the path is relative to the configuration file' : `did you mean ${meant}?`;
    throw new ModuleError(`${noun} ${path}: there is no such file: ${hint}`, { cause });
  }
  if (!stats.isFile()) throw new ModuleError(`${noun} ${path}: this is a folder: name the file in it`);
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
