/** What the status page shows: the answer of `/overview`. */
export interface Overview {
  readonly application: string;
  readonly instance: string;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly flows: readonly FlowOverview[];
  /** The last minutes, oldest first. */
  readonly samples: readonly Sample[];
}

/** A pipeline or an effect, with all of its workers. */
export interface FlowOverview {
  readonly name: string;
  readonly kind: 'pipeline' | 'effect';
  readonly guarantee: string;
  /** Where its records come from and go to. */
  readonly route: string;
  readonly ready: boolean;
  /** Of its workers, each once. */
  readonly states: readonly string[];
  readonly reasons: readonly string[];
  readonly partitions: readonly PartitionOverview[];
  /** Since the process started. */
  readonly totals: Totals;
}

export interface PartitionOverview {
  readonly topic: string;
  readonly partition: number;
  readonly worker: number;
  readonly committed: number | null;
  readonly lag: number | null;
  readonly held: string | null;
}

/** Counts by name: of an outcome, an error or a reason. */
export type Counts = Readonly<Record<string, number>>;

export interface Totals {
  readonly transactions: Counts;
  readonly deadLetters: Counts;
  /** Times the producer was replaced. */
  readonly recycles: Counts;
  /** Times a worker was. */
  readonly restarts: Counts;
}

export interface Sample {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly flows: Readonly<Record<string, FlowSample>>;
}

export interface FlowSample {
  /** Input records whose offsets were committed since the process started. */
  readonly committed: number;
  /** Records that wait; null where it is not known. */
  readonly lag: number | null;
}
