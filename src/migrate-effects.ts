import type { CompiledConfig } from './config/compiled.ts';
import { EffectFailure } from './effects/adapter.ts';
import { createPostgresAdapter } from './load-flow.ts';
import type { Logger } from './observability/logger.ts';

/** Creates what effects need in their databases; returns a line of what was done for each. @throws EffectFailure */
export async function migrateEffects({ effects }: CompiledConfig, logger: Logger): Promise<string[]> {
  const lines: string[] = [];
  for (const { name, target } of effects) {
    if (target.type !== 'postgres' || target.postgres.write.type !== 'processed-events') {
      lines.push(`${name}: needs nothing`);
      continue;
    }
    const adapter = await createPostgresAdapter(target.postgres, `effects.${name}.postgres`, logger);
    try {
      await adapter.migrate();
      lines.push(`${name}: table ${target.postgres.write.table} is there`);
    } catch (error) {
      if (!(error instanceof EffectFailure)) throw error;
      throw new EffectFailure(error.kind, `effect ${name}: ${error.message}`, { cause: error });
    } finally {
      await adapter.close();
    }
  }
  return lines;
}
