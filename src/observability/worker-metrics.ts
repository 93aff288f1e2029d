import { Counter, Gauge, type Registry } from 'prom-client';
import { METRICS, RESTART_REASONS } from './metric-specs.ts';

/**
 * What a supervisor counts itself.
 *
 * @param pipelines The names of what it runs.
 * @param running Worker processes by those names; called at each scrape.
 */
export function createWorkerMetrics(
  registry: Registry,
  pipelines: readonly string[],
  running: () => ReadonlyMap<string, number>,
): { restarted: (pipeline: string, reason: keyof typeof RESTART_REASONS) => void } {
  const registers = [registry];
  new Gauge({
    ...METRICS.workers,
    labelNames: METRICS.workers.labels,
    registers,
    collect() {
      for (const [pipeline, count] of running()) this.set({ pipeline }, count);
    },
  });
  const restarts = new Counter({ ...METRICS.workerRestarts, labelNames: METRICS.workerRestarts.labels, registers });
  for (const pipeline of pipelines) for (const reason in RESTART_REASONS) restarts.inc({ pipeline, reason }, 0);
  return { restarted: (pipeline, reason) => restarts.inc({ pipeline, reason }) };
}
