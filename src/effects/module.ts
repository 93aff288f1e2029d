import type { TransformLogger } from '../transform/define-transform.ts';
import { loadModule } from '../transform/load-module.ts';
import type { Adapter, Applied, EffectRecord } from './adapter.ts';
import type { Effect } from './define-effect.ts';

type LoadedEffect = Effect<unknown, unknown>;

/** The effect of a user's module, as an adapter. Throws a `ModuleError`. */
export async function loadEffectModule(
  path: string,
  modules: Readonly<Record<string, unknown>>,
  logger: TransformLogger,
): Promise<Adapter> {
  const effect = await loadModule({
    noun: 'effect',
    path,
    modules,
    accepts: isEffect,
    wanted: 'an object with apply or applyBatch',
    remedy: 'write `export default defineEffect({ apply: async (event) => … })`',
  });
  return new ModuleAdapter(effect, logger);
}

function isEffect(exported: unknown): exported is LoadedEffect {
  if (typeof exported !== 'object' || exported === null) return false;
  const { apply, applyBatch } = exported as { readonly apply?: unknown; readonly applyBatch?: unknown };
  return typeof apply === 'function' || typeof applyBatch === 'function';
}

class ModuleAdapter implements Adapter {
  readonly maxBatch?: number;
  readonly #effect: LoadedEffect;
  readonly #logger: TransformLogger;

  constructor(effect: LoadedEffect, logger: TransformLogger) {
    this.#effect = effect;
    this.#logger = logger;
    if ('apply' in effect) this.maxBatch = 1;
  }

  async open(): Promise<void> {
    await this.#effect.open?.({ logger: this.#logger });
  }

  async apply(batch: readonly EffectRecord[]): Promise<readonly Applied[]> {
    const effect = this.#effect;
    if ('applyBatch' in effect) return (await effect.applyBatch(batch)) ?? batch.map(() => 'applied');
    const outcomes: Applied[] = [];
    for (const record of batch) outcomes.push((await effect.apply(record)) ?? 'applied');
    return outcomes;
  }

  async close(): Promise<void> {
    await this.#effect.close?.();
  }
}
