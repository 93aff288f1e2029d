import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type Aggregator } from 'prom-client';
import type { FlowConfig, OutputConfig } from '../config/compiled.ts';
import type { Observer, PipelineStatus } from '../pipeline/observer.ts';
import { BoundedLabel } from './bounded-label.ts';
import { BulkHistogram } from './bulk-histogram.ts';
import {
  ABORT_REASONS,
  EFFECT_OUTCOMES,
  METRICS,
  REBALANCE_EVENTS,
  RECYCLE_REASONS,
  type MetricSpec,
} from './metric-specs.ts';

/** Upper bounds in seconds. A transform takes microseconds, or as long as the service it asks; commits take milliseconds. */
const TRANSFORM_BUCKETS = [0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];
const TRANSACTION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const EFFECT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const LATENCY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

/** A day. Records of years ago, replayed, would leave nothing to be seen of the others in the sum. */
const MAX_LATENCY_MS = 86_400_000;

/** Error types a pipeline may have a series for. */
const MAX_ERROR_TYPES = 30;

/** What labels need to know of a pipeline, or of an effect, which has no outputs. */
type MeasuredFlow = Pick<FlowConfig, 'kind' | 'name' | 'input'> & { readonly outputs?: readonly OutputConfig[] };

export interface Metrics {
  readonly registry: Registry;
  /** The observer that counts the facts of one pipeline or effect; call it once for each. */
  observer(flow: MeasuredFlow): Partial<Observer>;
}

/**
 * @param version The version of Millrace, for `millrace_build_info`.
 * @param statuses Called at each scrape: gauges are read off the pipelines as they stand, not kept beside them.
 * @param processLabels Labels for what is of this process alone, where its metrics are joined with those of others.
 */
export function createMetrics(
  version: string,
  statuses: () => readonly PipelineStatus[],
  processLabels: Readonly<Record<string, string>> = {},
): Metrics {
  const registry = new Registry();
  const instruments = createInstruments(registry);
  registerGauges(registry, statuses);
  new Gauge({ ...METRICS.build, labelNames: METRICS.build.labels, aggregator: 'first', registers: [registry] }).set(
    { version, node: process.version },
    1,
  );
  collectDefaultMetrics({ register: registry, labels: processLabels });
  return { registry, observer: (flow) => countFacts(instruments, flow) };
}

const OUTCOMES = Object.keys(EFFECT_OUTCOMES) as (keyof typeof EFFECT_OUTCOMES)[];

type Instruments = ReturnType<typeof createInstruments>;

function createInstruments(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>({ name, help, labels }: MetricSpec<L>) =>
    new Counter({ name, help, labelNames: labels, registers });
  return {
    consumed: counter(METRICS.consumed),
    moved: counter(METRICS.moved),
    produced: counter(METRICS.produced),
    filtered: counter(METRICS.filtered),
    effects: counter(METRICS.effects),
    retried: counter(METRICS.retried),
    skipped: counter(METRICS.skipped),
    deadLettered: counter(METRICS.deadLettered),
    transactions: counter(METRICS.transactions),
    rebalances: counter(METRICS.rebalances),
    recycled: counter(METRICS.recycled),
    clientErrors: counter(METRICS.clientErrors),
    transactionDuration: new Histogram({
      ...METRICS.transactionDuration,
      labelNames: METRICS.transactionDuration.labels,
      buckets: TRANSACTION_BUCKETS,
      registers,
    }),
    effectDuration: new Histogram({
      ...METRICS.effectDuration,
      labelNames: METRICS.effectDuration.labels,
      buckets: EFFECT_BUCKETS,
      registers,
    }),
    transformDuration: new BulkHistogram({ ...METRICS.transformDuration, buckets: TRANSFORM_BUCKETS, registry }),
    latency: new BulkHistogram({ ...METRICS.latency, buckets: LATENCY_BUCKETS, registry }),
  };
}

function registerGauges(registry: Registry, statuses: () => readonly PipelineStatus[]): void {
  const gauge = <L extends string>(
    { name, help, labels }: MetricSpec<L>,
    aggregator: Aggregator,
    read: (gauge: Gauge<L>, status: PipelineStatus) => void,
  ) =>
    new Gauge<L>({
      name,
      help,
      labelNames: labels,
      aggregator,
      registers: [registry],
      collect() {
        this.reset(); // A partition that is gone takes its series with it.
        for (const status of statuses()) read(this, status);
      },
    });

  gauge(METRICS.lag, 'max', (gauge, { pipeline, partitions }) => {
    for (const { topic, partition, lag } of partitions) {
      if (lag !== null) gauge.set({ pipeline, topic, partition }, lag);
    }
  });
  gauge(METRICS.assigned, 'sum', (assigned, { pipeline, worker, partitions }) =>
    assigned.set({ pipeline, worker }, partitions.length),
  );
  gauge(METRICS.held, 'sum', (held, { pipeline, worker, partitions }) =>
    held.set({ pipeline, worker }, partitions.filter((partition) => partition.held !== null).length),
  );
  gauge(METRICS.ready, 'min', (gauge, { pipeline, worker, ready }) => gauge.set({ pipeline, worker }, ready ? 1 : 0));
}

function countFacts(instruments: Instruments, config: MeasuredFlow): Partial<Observer> {
  const pipeline = config.name;
  startAtZero(instruments, config);
  const transformDuration = instruments.transformDuration.labels({ pipeline });
  const latency = instruments.latency.labels({ pipeline });
  const errorTypes = new BoundedLabel(MAX_ERROR_TYPES);

  return {
    assigned: () => instruments.rebalances.inc({ pipeline, event: 'assigned' }),
    revoked: () => instruments.rebalances.inc({ pipeline, event: 'revoked' }),
    lost: () => instruments.rebalances.inc({ pipeline, event: 'lost' }),
    consumed: (topic, records) => instruments.consumed.inc({ pipeline, topic }, records),
    transformed: (durationMs) => transformDuration.observe(durationMs / 1000),
    applied(outcomes, durationMs) {
      for (const outcome of OUTCOMES) instruments.effects.inc({ pipeline, outcome }, outcomes[outcome]);
      instruments.effectDuration.observe({ pipeline }, durationMs / 1000);
    },
    retried: () => instruments.retried.inc({ pipeline }),
    skipped: ({ topic }, from, to) => instruments.skipped.inc({ pipeline, topic }, to - from),
    committed(commit) {
      for (const [topic, records] of commit.records) instruments.moved.inc({ pipeline, topic }, records);
      for (const [output, records] of commit.produced) instruments.produced.inc({ pipeline, output }, records);
      for (const [type, records] of commit.deadLettered) {
        instruments.deadLettered.inc({ pipeline, error: errorTypes.of(type) }, records);
      }
      // An effect's records have no outputs by nature.
      if (config.kind === 'pipeline') instruments.filtered.inc({ pipeline }, commit.filtered);
      instruments.transactions.inc({ pipeline, outcome: 'committed' });
      instruments.transactionDuration.observe({ pipeline }, commit.durationMs / 1000);
      for (const timestamp of commit.timestamps) {
        // Negative where the topic has no timestamps; a producer's clock may also be ahead of ours.
        if (timestamp >= 0) latency.observe(Math.min(MAX_LATENCY_MS, Math.max(0, commit.at - timestamp)) / 1000);
      }
    },
    aborted: (reason) => instruments.transactions.inc({ pipeline, outcome: 'aborted', reason }),
    recycled: (reason) => instruments.recycled.inc({ pipeline, reason }),
    clientError: (client) => instruments.clientErrors.inc({ pipeline, client }),
  };
}

/** Series exist from the start: to Prometheus, one that appears with its first event has not increased. */
function startAtZero(instruments: Instruments, config: MeasuredFlow): void {
  const pipeline = config.name;
  for (const topic of config.input.topics) {
    instruments.consumed.inc({ pipeline, topic }, 0);
    instruments.moved.inc({ pipeline, topic }, 0);
    instruments.skipped.inc({ pipeline, topic }, 0);
  }
  for (const output of config.outputs ?? []) instruments.produced.inc({ pipeline, output: output.name }, 0);
  if (config.kind === 'pipeline') instruments.filtered.inc({ pipeline }, 0);
  else for (const outcome of OUTCOMES) instruments.effects.inc({ pipeline, outcome }, 0);
  instruments.retried.inc({ pipeline }, 0);
  instruments.transactions.inc({ pipeline, outcome: 'committed' }, 0);
  for (const reason in ABORT_REASONS) instruments.transactions.inc({ pipeline, outcome: 'aborted', reason }, 0);
  for (const reason in RECYCLE_REASONS) instruments.recycled.inc({ pipeline, reason }, 0);
  for (const event in REBALANCE_EVENTS) instruments.rebalances.inc({ pipeline, event }, 0);
  for (const client of config.kind === 'effect' ? ['consumer', 'producer', 'target'] : ['consumer', 'producer'])
    instruments.clientErrors.inc({ pipeline, client }, 0);
}
