import { fileURLToPath } from 'node:url';
import type { CompiledConfig } from './config/compiled.ts';
import { loadPipeline } from './load-flow.ts';
import { createLogger } from './observability/logger.ts';
import { Progress } from './prove/progress.ts';
import { prove as proveOn } from './prove/proof.ts';
import { report, verdictOf } from './prove/report.ts';
import { newStageName, type Stage, stageConfig } from './prove/stage.ts';
import { Worker } from './prove/worker.ts';

const MILLRACE = fileURLToPath(new URL('./millrace.cjs', import.meta.url));

export interface ProveOptions {
  readonly pipeline: string;
  readonly durationMs: number;
  readonly records: number;
  readonly bootstrapServers: string | null;
}

/** Proves a pipeline on copies of its topics, prints what came of it, and returns the exit code. */
export async function prove(config: CompiledConfig, options: ProveOptions): Promise<number> {
  const { pipeline, durationMs, records, bootstrapServers } = options;
  const stage: Stage = { name: newStageName(), pipeline, bootstrapServers };
  const say = (line: string) => {
    progress.clear();
    process.stdout.write(`${line}\n`);
  };
  const progress = new Progress(process.stderr);
  const interrupted = new AbortController();
  let exitCode = 0;
  const interrupt = (_: NodeJS.Signals, number: number) => {
    if (interrupted.signal.aborted) process.exit(exitCode); // the second one does not wait
    exitCode = 128 + number;
    say(`interrupted: deletes ${stage.name}.* and the group ${stage.name}`);
    interrupted.abort();
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt).on('SIGHUP', interrupt);

  const staged = stageConfig(config, stage, 'proof');
  const [onStage] = staged.pipelines;
  if (!onStage) throw new Error(`there is no pipeline ${pipeline}`);
  // What the transform logs, the workers have logged.
  const transform = await loadPipeline(onStage, createLogger(staged, { destination: { write: () => undefined } }));
  const args = (instance: string) => ['run', config.file, '--stage', JSON.stringify({ stage, instance })];
  try {
    const findings = await proveOn({
      config,
      stage,
      durationMs,
      records,
      transform,
      launch: (instance) => new Worker(instance, { module: MILLRACE, args: args(instance) }),
      progress: (line) => progress.show(line),
      say,
      signal: interrupted.signal,
    });
    for (const line of report(findings)) say(line);
    return verdictOf(findings) === 'exactly once' ? 0 : 1;
  } catch (error) {
    if (interrupted.signal.aborted) return exitCode;
    throw error;
  } finally {
    progress.clear();
  }
}
