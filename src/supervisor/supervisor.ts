import type { Registry } from 'prom-client';
import type { CompiledConfig, FlowConfig } from '../config/compiled.ts';
import { Aggregate, type MetricsSnapshot } from '../observability/aggregate.ts';
import type { LogLevel } from '../observability/log-level.ts';
import type { Logger } from '../observability/logger.ts';
import type { PipelineStatus } from '../pipeline/observer.ts';
import { Turn } from './turn.ts';
import { WorkerFailed } from './worker-failed.ts';
import { type RestartReason, WorkerSlot } from './worker-slot.ts';

export interface SupervisorOptions {
  config: CompiledConfig;
  /** What is to be run, each by as many workers as it says. */
  flows: readonly FlowConfig[];
  logger: Logger;
  /** From which on the workers print. */
  level: LogLevel;
  restarted: (flow: FlowConfig, reason: RestartReason) => void;
  /** A worker can't go on: the others are to be stopped. */
  failed: () => void;
}

interface Place {
  readonly flow: FlowConfig;
  readonly slot: WorkerSlot;
}

/** All workers of one `millrace run`: they end together, and are one thing to whoever asks how they are. */
export class Supervisor {
  readonly #places: readonly Place[];
  readonly #aggregate = new Aggregate();
  readonly #failed: () => void;

  constructor({ config, flows, logger, level, restarted, failed }: SupervisorOptions) {
    const turn = new Turn();
    this.#failed = failed;
    this.#places = flows.flatMap((flow) =>
      Array.from({ length: flow.workers }, (_, worker) => ({
        flow,
        slot: new WorkerSlot({
          config,
          flow,
          worker,
          logger,
          level,
          turn,
          restarted: (reason) => restarted(flow, reason),
          retire: (metrics) => this.#aggregate.retire(metrics),
        }),
      })),
    );
  }

  /** Runs until `stop()`; no process is left when it settles. Gives what failed. */
  async run(): Promise<readonly WorkerFailed[]> {
    const failures: WorkerFailed[] = [];
    const run = async ({ slot }: Place) => {
      try {
        await slot.run();
      } catch (error) {
        if (!(error instanceof WorkerFailed)) throw error;
        failures.push(error);
        this.#failed();
      }
    };
    await Promise.all(this.#places.map(run));
    return failures;
  }

  stop(): void {
    for (const { slot } of this.#places) slot.stop();
  }

  kill(): void {
    for (const { slot } of this.#places) slot.kill();
  }

  /** Has all workers print by what the level is now. */
  tellLevel(): void {
    for (const { slot } of this.#places) slot.tellLevel();
  }

  statuses(): PipelineStatus[] {
    return this.#places.map(({ slot }) => slot.status());
  }

  /** Worker processes by the name of what they run. */
  running(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { flow, slot } of this.#places) {
      counts.set(flow.name, (counts.get(flow.name) ?? 0) + (slot.isRunning ? 1 : 0));
    }
    return counts;
  }

  /** The metrics of all of them and of the supervisor itself. */
  async metrics(own: () => Promise<MetricsSnapshot>): Promise<Registry> {
    const snapshots = await Promise.all([own(), ...this.#places.map(({ slot }) => slot.metrics())]);
    return this.#aggregate.join(snapshots);
  }
}
