import { hostname } from 'node:os';
import { compile } from './compile.ts';
import type { CompiledConfig } from './compiled.ts';
import { refusePropertyIn } from './client-spec.ts';
import { ConfigError } from './problem.ts';
import { checkRules } from './rules.ts';
import { ConfigSource } from './source.ts';
import { configuration, instanceName } from './spec.ts';
import type { Path } from './syntax.ts';
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
  const salvaged = validate(configuration, source, refusal);
  checkRules(salvaged, source);
  checkInstance(host, source);
  const { data } = configuration.safeParse(source.value);
  if (!data || source.problems.length > 0) throw new ConfigError(source.problems);
  return compile(data, { file: source.file, folder: source.folder, hostname: host, secrets: source.secrets });
}

function refusal(path: Path): string | undefined {
  const [block, field] = path.slice(-2).map(String);
  if (block !== 'properties' || field === undefined) return undefined;
  const owner = path.at(-3);
  return refusePropertyIn(owner === 'consumer' || owner === 'producer' ? owner : 'both', field);
}

function checkInstance(host: string, source: ConfigSource): void {
  if (source.has(['instance']) || instanceName.safeParse(host).success) return;
  source.report(
    ['instance'],
    `missing, and the host name ${JSON.stringify(host)} is not fit to stand in for it: set it`,
  );
}
