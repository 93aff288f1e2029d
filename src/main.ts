import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { loadConfig } from './config/load.ts';
import { ConfigError } from './config/problem.ts';
import { configSchema } from './config/schema.ts';
import { createLogger } from './observability/logger.ts';
import { HttpListenError } from './observability/http.ts';
import { loadPipeline, run } from './run.ts';
import { SchemaError } from './serde/avro.ts';
import { ModuleError } from './transform/load-module.ts';

/** 0: all well. 1: it ran and failed. 2: the command line, the configuration or the user's code can not be used. */
const UNUSABLE = 2;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('millrace')
  .description('Exactly-once Kafka-to-Kafka stream processing in TypeScript.')
  .version(version)
  .exitOverride()
  .showHelpAfterError('(millrace --help shows what there is)');

program
  .command('run')
  .description('run the pipelines of a configuration file until stopped')
  .argument('<file>', 'the configuration, in YAML')
  .option('-p, --pipeline <name...>', 'run only these pipelines')
  .action(async (file: string, { pipeline = [] }: { pipeline?: string[] }) => {
    const config = loadConfig(file);
    const unknown = pipeline.filter((name) => !config.pipelines.some((known) => known.name === name));
    if (unknown.length > 0) {
      const known = config.pipelines.map(({ name }) => name).join(', ');
      program.error(`error: ${file} has no pipeline ${unknown.join(', ')}; it has ${known}`, { exitCode: UNUSABLE });
    }
    process.exit(await run(config, pipeline, version));
  });

program
  .command('check')
  .description('check a configuration file with its transforms and schemas; asks no broker')
  .argument('<file>', 'the configuration, in YAML')
  .action(async (file: string) => {
    const config = loadConfig(file);
    const logger = createLogger({ ...config, log: { level: 'error', format: 'auto' } });
    for (const pipeline of config.pipelines) await loadPipeline(pipeline, logger);
    const pipelines = config.pipelines.map(({ name }) => name).join(', ');
    process.stdout.write(`${file}: valid (${config.pipelines.length === 1 ? 'pipeline' : 'pipelines'} ${pipelines})\n`);
  });

program
  .command('schema')
  .description("print the configuration's JSON Schema, for editors")
  .action(() => {
    process.stdout.write(`${JSON.stringify(configSchema(), null, 2)}\n`);
  });

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exit(error.exitCode === 0 ? 0 : UNUSABLE);
  }
  const isUsers = [ConfigError, ModuleError, SchemaError, HttpListenError].some((type) => error instanceof type);
  const known = error instanceof Error ? error : new Error(String(error));
  const text = isUsers ? known.message : (known.stack ?? known.message);
  process.stderr.write(`${text}\n`);
  process.exit(isUsers ? UNUSABLE : 1);
}
