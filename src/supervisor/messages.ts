import type { CompiledConfig } from '../config/compiled.ts';
import type { MetricsSnapshot } from '../observability/aggregate.ts';
import type { Level } from '../observability/log-level.ts';
import type { PipelineStatus } from '../pipeline/observer.ts';

/** What a supervisor asks of a worker. */
export type Order =
  /** Load everything, but connect to nothing. The configuration comes along, so that all workers have the same one. */
  | { readonly kind: 'load'; readonly config: CompiledConfig }
  /** Connect and run, once everything is loaded. */
  | { readonly kind: 'run' }
  /** End the open transaction and exit. */
  | { readonly kind: 'stop' }
  /** Print from this level on. */
  | { readonly kind: 'level'; readonly level: Level }
  /** Report the metrics. */
  | { readonly kind: 'measure' };

/** What a worker tells its supervisor. */
export type Report =
  /** It listens: what is said to it before is lost. */
  | { readonly kind: 'listening' }
  | { readonly kind: 'loaded' }
  /** Once a second. */
  | { readonly kind: 'status'; readonly status: PipelineStatus; readonly residentBytes: number }
  /** When asked for, and as the last thing before an exit in order. */
  | { readonly kind: 'metrics'; readonly metrics: MetricsSnapshot }
  /** Why it is going to end. A new process would do no better where that is `final`, or what it was given `unusable`. */
  | { readonly kind: 'failed'; readonly reason: string; readonly hope: 'restart' | 'final' | 'unusable' };
