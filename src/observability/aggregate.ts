import { AggregatorRegistry, type Registry } from 'prom-client';

/** The metrics of one process at one moment, fit to be sent to another. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The metrics of several processes as one page, over the lives of those processes. */
export class Aggregate {
  /** What processes that are gone had counted. */
  #retired: MetricsSnapshot = [];

  /**
   * Keeps the counts of a process that has ended. Without them the sums would fall, and Prometheus, to which that is a
   * restart, would count all that is left once more.
   */
  retire(last: MetricsSnapshot): void {
    // The types say a number, prom-client says a word.
    const counts = last.filter(({ type }) => String(type) !== 'gauge');
    // What an aggregate registers has its values beside it.
    this.#retired = AggregatorRegistry.aggregate([this.#retired, counts]).getMetricsAsArray() as MetricsSnapshot;
  }

  /** Each metric is joined as its aggregator says. */
  join(living: readonly MetricsSnapshot[]): Registry {
    return AggregatorRegistry.aggregate([this.#retired, ...living]);
  }
}
