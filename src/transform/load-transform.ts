import type { TransformFunction } from './define-transform.ts';
import { loadModule } from './load-module.ts';

/** Loads a transform. Throws a `ModuleError`; `modules` is as in `ModuleOptions`. */
export function loadTransform(path: string, modules: Readonly<Record<string, unknown>>): Promise<TransformFunction> {
  return loadModule({
    noun: 'transform',
    path,
    modules,
    accepts: (exported): exported is TransformFunction => typeof exported === 'function',
    wanted: 'a function',
    remedy: 'write `export default defineTransform((record) => …)`',
  });
}
