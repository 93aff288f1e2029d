import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { CompiledConfig } from './config/compiled.ts';
import { loadConfig as load } from './config/load.ts';
import { ConfigError } from './config/problem.ts';
import { configSchema } from './config/schema.ts';
import { DURATION } from './config/units.ts';
import { createLogger } from './observability/logger.ts';
import { EffectFailure } from './effects/adapter.ts';
import { EXIT } from './exit-codes.ts';
import { askHealth, containersFile } from './health.ts';
import { HttpListenError } from './observability/http.ts';
import { loadEffect, loadPipeline, TargetError } from './load-flow.ts';
import { migrateEffects } from './migrate-effects.ts';
import { type Redact, redactSecrets } from './observability/redact.ts';
import { ProofRefused } from './prove/refused.ts';
import { type Stage, stageConfig } from './prove/stage.ts';
import { run } from './run.ts';
import { SchemaError } from './serde/avro.ts';
import { die } from './shutdown.ts';
import { SupervisorLink } from './supervisor/supervisor-link.ts';
import { WorkerFailed } from './supervisor/worker-failed.ts';
import { ModuleError } from './transform/load-module.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** A module may fail with what it was given. */
let redact: Redact = (text) => text;

function hideSecrets({ secrets }: CompiledConfig): void {
  redact = redactSecrets(secrets);
}

function loadConfig(file: string): CompiledConfig {
  const config = load(file);
  hideSecrets(config);
  return config;
}

const program = new Command('millrace')
  .description('Exactly-once Kafka-to-Kafka stream processing in TypeScript.')
  .version(version)
  .exitOverride()
  .showHelpAfterError('(millrace --help shows what there is)');

program
  .command('run')
  .description('run the pipelines and effects of a configuration file until stopped')
  .argument('<file>', 'the configuration, in YAML')
  .option('-p, --pipeline <name>', 'run only this pipeline; may be given again', collect)
  .option('-e, --effect <name>', 'run only this effect; may be given again', collect)
  .addOption(new Option('--stage <json>', 'be a worker of `prove`').argParser(JSON.parse).hideHelp())
  .action(async (file: string, { pipeline = [], effect = [], stage }: RunFlags) => {
    const loaded = loadConfig(file);
    const config = stage ? stageConfig(loaded, stage.stage, stage.instance) : loaded;
    // A worker of a proof ends with it, whatever it is in the middle of.
    if (stage) process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
    checkNames(file, 'pipeline', pipeline, config.pipelines);
    checkNames(file, 'effect', effect, config.effects);
    process.exit(await run(config, [...pipeline, ...effect], version));
  });

program
  .command('worker', { hidden: true })
  .description('one worker of a `millrace run`, which starts it')
  .argument('<name>', 'the pipeline or the effect')
  .argument('<index>', 'which of its workers', Number)
  .action(async (name: string, index: number) => {
    if (!process.send) program.error('error: millrace run starts its workers itself', { exitCode: EXIT.unusable });
    const link = new SupervisorLink(die);
    void link.ordered.then(hideSecrets);
    try {
      const { work } = await import('./work.ts');
      process.exit(await work(link, name, index, version));
    } catch (error) {
      if (!isUsers(error)) throw error;
      await link.report({ kind: 'failed', reason: error.message, hope: 'unusable' });
      process.exit(EXIT.unusable);
    }
  });

program
  .command('prove')
  .description(
    'show that a pipeline is exactly once here: run it on copies of its topics, hurt its workers, check what came out',
  )
  .argument('<file>', 'the configuration, in YAML')
  .requiredOption('-p, --pipeline <name>', 'the pipeline to prove')
  .option('--for <duration>', 'how long to feed it and to hurt its workers, such as 5m (default: 1m)', provingTime)
  .option('--records <number>', 'how many records of the input to take, the latest there are', sampleSize, 20_000)
  .option('--bootstrap-servers <servers>', 'the cluster to prove on, instead of kafka.bootstrapServers')
  .action(async (file: string, { pipeline, for: durationMs = 60_000, records, bootstrapServers }: ProveFlags) => {
    const config = loadConfig(file);
    checkNames(file, 'pipeline', [pipeline], config.pipelines);
    // Only here, for it brings the Kafka client along, which a supervisor does without.
    const { prove } = await import('./prove.ts');
    process.exit(await prove(config, { pipeline, durationMs, records, bootstrapServers: bootstrapServers ?? null }));
  });

program
  .command('check')
  .description(
    'check a configuration file with its modules and schemas; asks no broker unless told to, and no database',
  )
  .argument('<file>', 'the configuration, in YAML')
  .option('--connect', 'ask the cluster, too: credentials, topics, ACLs, limits; changes nothing there')
  .action(async (file: string, { connect = false }: { readonly connect?: boolean }) => {
    const config = loadConfig(file);
    const logger = createLogger({ ...config, log: { level: 'error', format: 'auto' } });
    const problems: string[] = [];
    const attempt = async (load: () => Promise<unknown>) => {
      await load().catch((error: unknown) => {
        if (!isUsers(error)) throw error;
        problems.push(error.message);
      });
    };
    for (const pipeline of config.pipelines) await attempt(() => loadPipeline(pipeline, logger));
    for (const effect of config.effects) await attempt(() => loadEffect(effect, config.secrets, logger));
    if (problems.length > 0) {
      process.stderr.write(`${redact(problems.join('\n'))}\n`);
      process.exit(EXIT.unusable);
    }
    const found = [...counted('pipeline', config.pipelines), ...counted('effect', config.effects)].join('; ');
    process.stdout.write(`${file}: valid (${found})\n`);
    // What a module has opened would keep the process alive.
    if (!connect) process.exit(0);
    const { checkConnect } = await import('./check-connect.ts');
    process.exit(await checkConnect(config, (line) => process.stdout.write(`${line}\n`)));
  });

program
  .command('effects')
  .description('what the targets of effects need')
  .command('migrate')
  .description('create the tables that effects need in their databases; what is there is left as it is')
  .argument('<file>', 'the configuration, in YAML')
  .action(async (file: string) => {
    const config = loadConfig(file);
    const logger = createLogger({ ...config, log: { level: 'error', format: 'auto' } });
    for (const line of await migrateEffects(config, logger)) process.stdout.write(`${line}\n`);
  });

program
  .command('health')
  .description('ask the process that runs a configuration on this machine whether it answers: 0, or 1 and why not')
  .argument('[file]', 'the configuration; in a container, by default the one that its first process runs')
  .option('-r, --ready', 'ask whether its pipelines and effects get on, too')
  .action(async (given: string | undefined, { ready = false }: { ready?: boolean }) => {
    const file = given ?? containersFile();
    if (file === undefined) return program.error('error: name the configuration', { exitCode: EXIT.unusable });
    const health = await askHealth(loadConfig(file).http, ready ? '/ready' : '/live');
    if (health.kind === 'well') return;
    process.stderr.write(`${health.reason}\n`);
    process.exitCode = 1;
  });

program
  .command('schema')
  .description("print the configuration's JSON Schema, for editors")
  .action(() => {
    process.stdout.write(`${JSON.stringify(configSchema(), null, 2)}\n`);
  });

interface RunFlags {
  readonly pipeline?: string[];
  readonly effect?: string[];
  readonly stage?: { readonly stage: Stage; readonly instance: string };
}

interface ProveFlags {
  readonly pipeline: string;
  readonly for?: number;
  readonly records: number;
  readonly bootstrapServers?: string;
}

/** A shorter one could not show much, and a longer one is a soak test. */
function provingTime(text: string): number {
  const ms = DURATION.parse(text);
  if (ms >= 10_000 && ms <= 24 * 3_600_000) return ms;
  throw new InvalidArgumentError('It takes a duration from 10s to 24h, such as 90s or 5m.');
}

function sampleSize(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : NaN;
  if (count >= 1 && count <= 1_000_000) return count;
  throw new InvalidArgumentError('It takes a whole number from 1 to 1000000.');
}

function collect(name: string, names: string[] = []): string[] {
  return [...names, name];
}

/** Errors whose message says all: a stack trace of ours would add nothing. */
function isUsers(error: unknown): error is Error {
  const types = [
    ConfigError,
    ModuleError,
    TargetError,
    EffectFailure,
    SchemaError,
    HttpListenError,
    WorkerFailed,
    ProofRefused,
  ];
  return types.some((type) => error instanceof type);
}

interface Named {
  readonly name: string;
}

function checkNames(file: string, noun: string, wanted: readonly string[], known: readonly Named[]): void {
  const unknown = wanted.filter((name) => !known.some((each) => each.name === name));
  if (unknown.length === 0) return;
  const has = known.length === 0 ? `no ${noun}` : known.map(({ name }) => name).join(', ');
  program.error(`error: ${file} has no ${noun} ${unknown.join(', ')}; it has ${has}`, { exitCode: EXIT.unusable });
}

function counted(noun: string, found: readonly Named[]): string[] {
  if (found.length === 0) return [];
  return [`${noun}${found.length === 1 ? '' : 's'} ${found.map(({ name }) => name).join(', ')}`];
}

// A reader such as `head` may have seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
let isDone = false;
process.once('beforeExit', () => {
  if (isDone) return;
  process.stderr.write('error: a module waits at its top level for something that never comes\n');
  process.exit(EXIT.unusable);
});

try {
  await program.parseAsync();
  isDone = true;
} catch (error) {
  if (error instanceof CommanderError) {
    process.exit(error.exitCode === 0 ? 0 : EXIT.unusable);
  }
  const known = error instanceof Error ? error : new Error(String(error));
  const text = isUsers(error) ? known.message : (known.stack ?? known.message);
  process.stderr.write(`${redact(text)}\n`);
  const mayPass = error instanceof EffectFailure && error.kind === 'transient';
  process.exit(isUsers(error) && !mayPass ? EXIT.unusable : EXIT.failed);
}
