import { hostname } from 'node:os';
import { compile } from './compile.ts';
import type { CompiledConfig } from './compiled.ts';
import { ConfigError } from './problem.ts';
import { ConfigSource } from './source.ts';
import { configuration } from './spec.ts';
import { validate } from './validate.ts';

export interface LoadOptions {
  /** Where `${VAR}` is looked up; by default the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What `instance` defaults to. */
  readonly hostname?: string;
}

/**
 * Reads, checks and compiles a configuration file. The result is frozen. Throws a `ConfigError` with every problem of
 * the file at once; its message is fit to print.
 */
export function loadConfig(file: string, options: LoadOptions = {}): CompiledConfig {
  const { env = process.env, hostname: host = hostname() } = options;
  const source = new ConfigSource(file, env);
  validate(configuration, source, refusal);
  const { data } = configuration.safeParse(source.value);
  if (!data || source.problems.length > 0) throw new ConfigError(source.problems);
  return compile(data, { file: source.file, folder: source.folder, hostname: host, secrets: source.secrets });
}

function refusal(path: readonly PropertyKey[]): string | undefined {
  if (path.length === 1 && path[0] === 'effects') return 'effects come with a later version of Millrace: remove them';
  return undefined;
}
