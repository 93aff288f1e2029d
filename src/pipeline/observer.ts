import type { TopicPartition } from './ports.ts';

/** Why a transaction was given up, a recycled producer needed, or a record failed: bounded, fit for a metric label. */
export type AbortReason = 'rejected' | 'lost' | 'stale' | 'timeout' | 'error' | 'shutdown';
export type RecycleReason = 'unknown-commit' | 'timed-out' | 'slow-call' | 'disconnected' | 'fatal' | 'rejected';

export interface Committed {
  /** Source records, by topic, whose offsets this transaction moved. */
  records: ReadonlyMap<string, number>;
  /** Records written, by output name. */
  produced: ReadonlyMap<string, number>;
  /** Source records that gave no output. */
  filtered: number;
  /** Dead letters written, by error type. */
  deadLettered: ReadonlyMap<string, number>;
  /** Timestamps (ms since the epoch) of the source records, for end-to-end latency at `at`. */
  timestamps: readonly number[];
  /** When the commit was confirmed, ms since the epoch. */
  at: number;
  /** From begin to confirmed commit. */
  durationMs: number;
}

export interface Failure extends TopicPartition {
  offset: number;
  /** Which try failed, from 1. */
  attempt: number;
  error: Error;
}

/**
 * The facts the loop reports. Logs and metrics are derived from them at the edge; the loop itself writes neither.
 * Nothing here may throw or block.
 */
export interface Observer {
  assigned(partitions: readonly TopicPartition[]): void;
  revoked(partitions: readonly TopicPartition[]): void;
  lost(partitions: readonly TopicPartition[]): void;
  /** Records handed over by the client, those of a repeat after an abort included. */
  consumed(topic: string, records: number): void;
  /** One run of the transform, decode and encode included. */
  transformed(durationMs: number): void;
  retried(failure: Failure & { delayMs: number }): void;
  /** A record was given up; its dead letter is in the open transaction. */
  deadLettered(failure: Failure): void;
  /** A target outside of Kafka has confirmed a batch: so many records by what became of them. */
  applied(outcomes: Readonly<Record<'applied' | 'repeat' | 'stale', number>>, durationMs: number): void;
  /** A partition can not go on: its record fails, and is not or can not be dead-lettered. */
  held(failure: Failure): void;
  released(partition: TopicPartition): void;
  /** Records from offset `from` to before `to` were deleted before they were read, and are left out. */
  skipped(partition: TopicPartition, from: number, to: number): void;
  committed(commit: Committed): void;
  aborted(reason: AbortReason, error: Error | null): void;
  recycled(reason: RecycleReason, error: Error | null): void;
  /** Complaints of the clients and of an effect's target (it can't be reached, …); repeats are the receiver's to thin out. */
  clientError(client: 'consumer' | 'producer' | 'target', error: Error): void;
}

export interface PartitionStatus extends TopicPartition {
  /** Next offset to read as committed by the group; null before the first commit. */
  committed: number | null;
  /** Records that could be read (up to the last stable offset) and are not yet committed; null until known. */
  lag: number | null;
  /** Why the partition can not go on, or null. */
  held: string | null;
}

/** A pipeline as it stands now: what gauges, readiness and the status page are made from. */
export interface PipelineStatus {
  pipeline: string;
  /** Which of its workers, from 0. */
  worker: number;
  /** `down`: its process is gone, and another one will take its place. */
  state: 'starting' | 'running' | 'draining' | 'stopped' | 'failed' | 'down';
  /** True while records flow, or could: tied to progress, not to being up. */
  ready: boolean;
  /** Why it is not ready, in words for an operator; empty when ready. */
  reasons: string[];
  partitions: PartitionStatus[];
}
