import type { CompiledConfig, EffectConfig, PipelineConfig } from './config/compiled.ts';
import { supervise } from './supervise.ts';

/** What `millrace run` is to run. */
export interface Selection {
  readonly pipelines: readonly PipelineConfig[];
  readonly effects: readonly EffectConfig[];
}

/**
 * Runs the pipelines and effects of these names, or all, until a signal or a failure: in this process, or in processes of
 * their own where there are to be several of one, or their memory is limited. Returns the exit code.
 */
export async function run(config: CompiledConfig, names: readonly string[], version: string): Promise<number> {
  const isWanted = ({ name }: { readonly name: string }) => names.length === 0 || names.includes(name);
  const selection = { pipelines: config.pipelines.filter(isWanted), effects: config.effects.filter(isWanted) };
  const needsWorkers = config.worker.maxMemoryBytes !== null || selection.pipelines.some(({ workers }) => workers > 1);
  if (needsWorkers) return supervise(config, selection, version);
  // A supervisor has no use for the Kafka client, whose threads and memory it would carry along.
  const { runHere } = await import('./run-here.ts');
  return runHere(config, selection, version);
}
