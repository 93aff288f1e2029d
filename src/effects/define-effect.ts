import type { TransformLogger } from '../transform/define-transform.ts';
import type { RecordHeaders } from '../transform/record-headers.ts';
import type { Applied } from './adapter.ts';

/** A record as an effect sees it: key and value decoded by the input's formats. */
export interface EffectEvent<Value, Key = string | null> {
  readonly key: Key;
  readonly value: Value;
  readonly headers: RecordHeaders;
  /** Milliseconds since the epoch; -1 where the record has none. */
  readonly timestamp: number;
  /** Where the record was read. */
  readonly source: { readonly topic: string; readonly partition: number; readonly offset: number };
  /** The same whenever this event comes again: the idempotency key. */
  readonly eventId: string;
  /** Which try this is, from 1. */
  readonly attempt: number;
  /**
   * Whether it may have been applied before, as far as this process knows. To ask the target only then is not safe: an
   * instance that stood still may wake up and apply an event that seemed new here.
   */
  readonly redelivered: boolean;
}

/** What became of a record, or of each of a batch; `applied` where nothing is returned. */
export type EffectOutcome<Outcome = Applied> =
  Outcome | undefined | PromiseLike<Outcome | undefined> | PromiseLike<void>;

interface EffectLifecycle {
  /** Connects. Called before anything is read; a `transient` `EffectFailure` is tried again. */
  readonly open?: (context: { readonly logger: TransformLogger }) => Promise<void> | void;
  readonly close?: () => Promise<void> | void;
}

/**
 * An effect on a target of your own. It resolves once the target has confirmed, and makes a repeat a no-op by the
 * `eventId`. What it throws decides: an `EffectFailure` by its kind, a `PoisonRecord` becomes a dead letter, anything
 * else is tried `retry.attempts` times.
 */
export type Effect<Value, Key = string | null> = EffectLifecycle &
  (
    | { readonly apply: (event: EffectEvent<Value, Key>) => EffectOutcome }
    | {
        /** In order. When it throws, the batch is tried again: as a whole, or in halves. */
        readonly applyBatch: (events: readonly EffectEvent<Value, Key>[]) => EffectOutcome<readonly Applied[]>;
      }
  );

/**
 * Types an effect; the module's default export.
 *
 *     export default defineEffect<Delay>({ apply: async ({ value, eventId }) => { await desk.tell(value, eventId); } });
 */
export function defineEffect<Value, Key = string | null>(effect: Effect<Value, Key>): Effect<Value, Key> {
  return effect;
}
