import type { AbortReason, RecycleReason } from '../pipeline/observer.ts';

/** What one metric is: its series are made from this and `docs/metrics.md` is written from it. */
export interface MetricSpec<Label extends string = string> {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly labels: readonly Label[];
  readonly help: string;
}

export const METRICS = {
  consumed: {
    type: 'counter',
    name: 'millrace_records_consumed_total',
    labels: ['pipeline', 'topic'],
    help: 'Records read, those read again after an abort included.',
  },
  moved: {
    type: 'counter',
    name: 'millrace_records_committed_total',
    labels: ['pipeline', 'topic'],
    help: 'Records whose offsets a committed transaction moved: each record counts once.',
  },
  produced: {
    type: 'counter',
    name: 'millrace_records_produced_total',
    labels: ['pipeline', 'output'],
    help: 'Records written to an output by committed transactions.',
  },
  filtered: {
    type: 'counter',
    name: 'millrace_records_filtered_total',
    labels: ['pipeline'],
    help: 'Records for which the transform returned nothing, in committed transactions.',
  },
  effects: {
    type: 'counter',
    name: 'millrace_effects_total',
    labels: ['pipeline', 'outcome'],
    help: 'Records whose effect the target has confirmed, by outcome: a record that is read again counts again.',
  },
  effectDuration: {
    type: 'histogram',
    name: 'millrace_effect_duration_seconds',
    labels: ['pipeline'],
    help: 'Time a target took to confirm a batch, or a single record where it takes them one by one.',
  },
  retried: {
    type: 'counter',
    name: 'millrace_records_retried_total',
    labels: ['pipeline'],
    help: 'Failed tries that were followed by another one.',
  },
  deadLettered: {
    type: 'counter',
    name: 'millrace_records_dead_lettered_total',
    labels: ['pipeline', 'error'],
    help: 'Dead letters written by committed transactions, by type of error.',
  },
  skipped: {
    type: 'counter',
    name: 'millrace_skipped_offsets_total',
    labels: ['pipeline', 'topic'],
    help: 'Offsets whose records were deleted before they were read, and that were left out because of `input.onDataLoss`.',
  },
  transactions: {
    type: 'counter',
    name: 'millrace_transactions_total',
    labels: ['pipeline', 'outcome', 'reason'],
    help: 'Transactions by outcome: committed, or aborted for a reason.',
  },
  transactionDuration: {
    type: 'histogram',
    name: 'millrace_transaction_duration_seconds',
    labels: ['pipeline'],
    help: 'Time from the begin of a transaction to its confirmed commit.',
  },
  transformDuration: {
    type: 'histogram',
    name: 'millrace_transform_duration_seconds',
    labels: ['pipeline'],
    help: 'Time one record took to decode, transform and encode.',
  },
  latency: {
    type: 'histogram',
    name: 'millrace_end_to_end_latency_seconds',
    labels: ['pipeline'],
    help: "Time from a record's timestamp to the confirmed commit of its results; more than a day counts as a day.",
  },
  lag: {
    type: 'gauge',
    name: 'millrace_lag_records',
    labels: ['pipeline', 'topic', 'partition'],
    help: 'Records that could be read (up to the last stable offset) and are not yet committed.',
  },
  assigned: {
    type: 'gauge',
    name: 'millrace_assigned_partitions',
    labels: ['pipeline', 'worker'],
    help: 'Partitions that a worker reads.',
  },
  held: {
    type: 'gauge',
    name: 'millrace_held_partitions',
    labels: ['pipeline', 'worker'],
    help: 'Partitions that can not go on: a record fails, and is not or can not be dead-lettered.',
  },
  ready: {
    type: 'gauge',
    name: 'millrace_ready',
    labels: ['pipeline', 'worker'],
    help: '1 while records flow, or could; 0 otherwise. /ready says why.',
  },
  rebalances: {
    type: 'counter',
    name: 'millrace_rebalances_total',
    labels: ['pipeline', 'event'],
    help: 'Times partitions changed hands.',
  },
  recycled: {
    type: 'counter',
    name: 'millrace_producer_recycles_total',
    labels: ['pipeline', 'reason'],
    help: 'Times the producer was replaced by a new one under the same transactional id.',
  },
  clientErrors: {
    type: 'counter',
    name: 'millrace_client_errors_total',
    labels: ['pipeline', 'client'],
    help: 'Errors that the Kafka client reported by itself, such as a broker that is down; with `client="target"`, times that an effect could not open its target.',
  },
  workers: {
    type: 'gauge',
    name: 'millrace_workers_running',
    labels: ['pipeline'],
    help: 'Worker processes that run, where a supervisor runs them.',
  },
  workerRestarts: {
    type: 'counter',
    name: 'millrace_worker_restarts_total',
    labels: ['pipeline', 'reason'],
    help: 'Times that a supervisor has put a new process in the place of a worker.',
  },
  build: {
    type: 'gauge',
    name: 'millrace_build_info',
    labels: ['version', 'node'],
    help: 'Always 1; the labels say what is running.',
  },
} as const satisfies Record<string, MetricSpec>;

export const ABORT_REASONS: Readonly<Record<AbortReason, string>> = {
  rejected: 'the broker refused a record of it',
  lost: 'partitions were lost to another member of the group',
  stale: 'the group had moved on to a new generation',
  timeout: 'it took too long',
  error: 'any other error on the way to the commit',
  shutdown: 'the process was stopping',
};

export const RECYCLE_REASONS: Readonly<Record<RecycleReason, string>> = {
  'unknown-commit': 'whether a commit had happened was not known',
  'timed-out': 'the transaction outlived its timeout on the broker',
  'slow-call': 'a call took so long that the client may have sent it twice',
  disconnected: 'the connection to a broker broke during a transaction',
  fatal: 'the producer reported that it can not go on',
  rejected: 'the broker refused a record',
};

export const RESTART_REASONS = {
  crash: 'it had ended without being asked to',
  memory: 'its memory had passed `worker.maxMemory`',
} as const;

export const EFFECT_OUTCOMES = {
  applied: 'it was done now',
  repeat: 'the target shows that it was done before',
  stale: 'the target holds something newer',
} as const;

export const REBALANCE_EVENTS = {
  assigned: 'partitions were gained',
  revoked: 'partitions were given up in order',
  lost: 'partitions were taken away: this process was believed dead',
} as const;
