import type { CompiledConfig } from '../config/compiled.ts';
import type { Level } from '../observability/log-level.ts';
import type { Order, Report } from './messages.ts';

/** A worker's end of the channel to its supervisor. */
export class SupervisorLink {
  /** Resolves with what is to be loaded. */
  readonly ordered: Promise<CompiledConfig>;
  /** Resolves when the process may connect. */
  readonly released: Promise<void>;
  /** Resolves when the process is to end in order: told by the supervisor, or by a signal to its process group. */
  readonly stopped: Promise<void>;
  /** Called when the supervisor wants to have the metrics. */
  onMeasure: () => void = () => undefined;
  /** Called with the level from which on lines are to be printed. */
  onLevel: (level: Level) => void = () => undefined;
  #isStopped = false;

  /** @param orphaned Called when the supervisor is gone: nobody would start this process again, or stop it. */
  constructor(orphaned: () => void) {
    // Before what node:cluster does then, which is to exit without a hurry.
    process.prependListener('disconnect', orphaned);
    const orders = (take: (order: Order) => void) => process.on('message', take);
    this.ordered = new Promise((resolve) => {
      orders((order) => order.kind === 'load' && resolve(order.config));
    });
    this.released = new Promise((resolve) => {
      orders(({ kind }) => kind === 'run' && resolve());
    });
    this.stopped = new Promise((resolve) => {
      const stop = () => {
        this.#isStopped = true;
        resolve();
      };
      // A Ctrl-C in a terminal, or a service manager, reaches the whole group: for a worker that is the same order once
      // more, never a second one to end at once. Its supervisor gives that by SIGKILL.
      process.on('SIGTERM', stop).on('SIGINT', stop);
      orders(({ kind }) => kind === 'stop' && stop());
    });
    orders(({ kind }) => kind === 'measure' && this.onMeasure());
    orders((order) => order.kind === 'level' && this.onLevel(order.level));
    // To the whole group this one would be the end of each worker; what it asks for comes as an order.
    process.on('SIGUSR2', () => undefined);
    void this.report({ kind: 'listening' });
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Resolves when it is on its way, or can't be any more since the supervisor is gone. */
  report(report: Report): Promise<void> {
    return new Promise((resolve) => {
      process.send?.(report, undefined, undefined, () => resolve());
    });
  }
}
