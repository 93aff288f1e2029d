import type { Counts, FlowSample, Totals } from '../page/overview.ts';
import type { MetricsSnapshot } from './aggregate.ts';
import { METRICS } from './metric-specs.ts';

interface Series {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
}

/** The metrics of the flow of this name, summed up. What is not in the snapshot counts as none. */
export function totalsOf(snapshot: MetricsSnapshot, flow: string): Totals {
  return {
    transactions: sumBy(seriesOf(snapshot, METRICS.transactions, flow), ({ outcome, reason }) =>
      outcome === 'aborted' ? `aborted: ${String(reason)}` : String(outcome),
    ),
    deadLetters: sumBy(seriesOf(snapshot, METRICS.deadLettered, flow), ({ error }) => String(error)),
    recycles: sumBy(seriesOf(snapshot, METRICS.recycled, flow), ({ reason }) => String(reason)),
    restarts: sumBy(seriesOf(snapshot, METRICS.workerRestarts, flow), ({ reason }) => String(reason)),
  };
}

/** Where the flow of this name stands at the moment of the snapshot. */
export function sampleOf(snapshot: MetricsSnapshot, flow: string): FlowSample {
  const lags = seriesOf(snapshot, METRICS.lag, flow);
  return { committed: sum(seriesOf(snapshot, METRICS.moved, flow)), lag: lags.length === 0 ? null : sum(lags) };
}

function seriesOf(snapshot: MetricsSnapshot, { name }: { readonly name: string }, flow: string): readonly Series[] {
  const values: readonly Series[] = snapshot.find((metric) => metric.name === name)?.values ?? [];
  return values.filter(({ labels }) => labels['pipeline'] === flow);
}

const sum = (series: readonly Series[]): number => series.reduce((total, { value }) => total + value, 0);

function sumBy(series: readonly Series[], nameOf: (labels: Series['labels']) => string): Counts {
  const counts: Record<string, number> = {};
  for (const { labels, value } of series) counts[nameOf(labels)] = (counts[nameOf(labels)] ?? 0) + value;
  return counts;
}
