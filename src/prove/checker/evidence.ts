import type { Header, LogRecord, Partition } from '../log-record.ts';

/** What must become of a source record, computed from it alone. */
export type Expectation =
  | { readonly kind: 'outputs'; readonly outputs: readonly ExpectedOutput[] }
  | { readonly kind: 'filtered' }
  | { readonly kind: 'dead-letter' }
  /** The transform gives another result each time: any whole one will do. */
  | { readonly kind: 'undetermined' };

export interface ExpectedOutput {
  readonly topic: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** Without those that the product adds; one without an `event-id` must get the one that its source's coordinates give. */
  readonly headers: readonly Header[];
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

export interface PartitionEnds extends Partition {
  /** What `read_committed` can read up to. */
  readonly lastStable: number;
  readonly highWatermark: number;
}

/** Everything a run left behind. Logs keep each partition's order. */
export interface Evidence {
  /** The input, as an independent reader found it. */
  readonly sources: readonly LogRecord[];
  readonly expect: (source: LogRecord) => Expectation;
  /** Empty where there is none. */
  readonly deadLetterTopic: string;
  /** `headers` where absent: the dead letter's value is its source's. */
  readonly deadLetterFormat?: 'headers' | 'json';
  /** All outputs and dead letters that a `read_committed` reader finds at the end. */
  readonly visible: readonly LogRecord[];
  /** What another `read_committed` reader saw while the faults happened. */
  readonly online: readonly LogRecord[];
  /** What a `read_uncommitted` reader saw: the visible records and those of aborted transactions. */
  readonly uncommitted: readonly LogRecord[];
  /** The group's next offset, by input partition; a partition without a commit is left out. */
  readonly committed: ReadonlyMap<string, number>;
  /** Input partitions that may not go on, with the offset that holds them: from there on nothing is due. */
  readonly heldAt: ReadonlyMap<string, number>;
  /** Of each partition that the transactions wrote to. */
  readonly ends: readonly PartitionEnds[];
  /** Transactional ids with an ongoing transaction, as the broker lists them. */
  readonly openTransactions: readonly string[];
  /** The product's lag gauge, by input partition. */
  readonly lag: ReadonlyMap<string, number>;
}

export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I9';

export interface Violation {
  readonly invariant: Invariant;
  /** The coordinates: `topic/partition`, or with the offset. */
  readonly at: string;
  readonly found: string;
}
