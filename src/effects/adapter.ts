import type { RecordHeaders } from '../transform/record-headers.ts';

/** A committed record whose effect is to be applied: decoded, with the stable id that makes a repeat recognisable. */
export interface EffectRecord {
  readonly key: unknown;
  readonly value: unknown;
  readonly headers: RecordHeaders;
  /** Milliseconds since the epoch; -1 where the record has none. */
  readonly timestamp: number;
  readonly source: { readonly topic: string; readonly partition: number; readonly offset: number };
  readonly eventId: string;
  /** Which try this is, from 1. */
  readonly attempt: number;
  /** True where this process has tried the record before, or can't rule out that another one has. */
  readonly redelivered: boolean;
}

/** What became of a record: done now, found done before, or older than what the target holds. */
export type Applied = 'applied' | 'repeat' | 'stale';

/**
 * Why an effect was not applied.
 *
 * - `transient`: the target can't be reached or asks to come back later; tried again for as long as it takes.
 * - `poison`: this record can never be applied; it becomes a dead letter.
 * - `denied`: the credential or the permission is wrong; the partition is held until somebody mends it.
 */
export class EffectFailure extends Error {
  override readonly name = 'EffectFailure';
  readonly kind: 'transient' | 'poison' | 'denied';
  /** Not to be tried again before this many ms, where the target said so. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: EffectFailure['kind'], message: string, options: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** A target outside of Kafka. Its effects are at least once; the adapter makes a repeat a no-op. */
export interface Adapter {
  /** Most records that `apply` takes at once; as many as the configuration says where absent. */
  readonly maxBatch?: number;
  /** Connects and checks that the target is fit. Rejects with an `EffectFailure`; `transient` is tried again. */
  open(): Promise<void>;
  /**
   * Applies the records in order and resolves, with an outcome for each, once the target has confirmed them all. When it
   * rejects, nothing of the batch may be relied on: it is tried again as a whole, or in halves after `poison`.
   */
  apply(batch: readonly EffectRecord[]): Promise<readonly Applied[]>;
  close(): Promise<void>;
}
