import type { HeadersInit, RecordHeaders } from './record-headers.ts';

/** A record as a transform sees it: key and value decoded by the input's formats. Treat Buffers in it as read-only. */
export interface TransformInput<Value, Key = string | null> {
  readonly key: Key;
  readonly value: Value;
  readonly headers: RecordHeaders;
  /** Milliseconds since the epoch; -1 where the record has none. */
  readonly timestamp: number;
}

/** A record to write. What is left out is inherited from the input: key, headers and timestamp. */
export interface TransformOutput<Value, Key = string | null> {
  /** Left out: the input's key. `null`: no key. */
  readonly key?: Key | null | undefined;
  /** `null` writes a tombstone. */
  readonly value: Value | null;
  /** Left out: the input's headers, all of them. Given: these instead. */
  readonly headers?: HeadersInit | undefined;
  /** Milliseconds since the epoch. Left out: the input's. */
  readonly timestamp?: number | undefined;
  /** The name of an output in the configuration. Needed where there are several. */
  readonly to?: string | undefined;
  /** Left out: the partition follows from the key, as Kafka's Java clients compute it. */
  readonly partition?: number | undefined;
}

/** Writes to the worker's log, with the pipeline's name. Fields come first, as in pino. */
export interface TransformLogger {
  debug(message: string): void;
  debug(fields: object, message?: string): void;
  info(message: string): void;
  info(fields: object, message?: string): void;
  warn(message: string): void;
  warn(fields: object, message?: string): void;
  error(message: string): void;
  error(fields: object, message?: string): void;
}

/**
 * What a transform knows besides the record. All but `attempt` is the same when a record is processed again, so that results built
 * from it are too.
 */
export interface TransformContext {
  readonly logger: TransformLogger;
  /** Where the record was read. */
  readonly source: { readonly topic: string; readonly partition: number; readonly offset: number };
  /** The record's timestamp: milliseconds since the epoch, -1 where it has none. Use it in place of the clock. */
  readonly timestamp: number;
  /** The `event-id` that output number `index` (from 0) gets unless the transform sets one: a stable key for what is derived from it. */
  readonly eventId: (index: number) => string;
  /** Which try this is, from 1. */
  readonly attempt: number;
}

/** Nothing (the record is filtered), one record, or several in order. */
export type TransformResult<Value, Key = string | null> =
  TransformOutput<Value, Key> | readonly TransformOutput<Value, Key>[] | null | undefined;

/** The function that a pipeline runs for each record. A throw or a rejection is retried; a `PoisonRecord` is not. */
export type Transform<In, Out = In, InKey = string | null, OutKey = InKey> = (
  record: TransformInput<In, InKey>,
  context: TransformContext,
) => TransformResult<Out, OutKey> | PromiseLike<TransformResult<Out, OutKey>>;

/**
 * Types a transform; the module's default export.
 *
 *     export default defineTransform<Order, Invoice>((order) => ({ value: invoiceFor(order.value) }));
 *
 * `In` and `Out` are the values that the formats in the configuration give and take. Where a topic has tombstones, say so: `Order | null`.
 */
export function defineTransform<In, Out = In, InKey = string | null, OutKey = InKey>(
  transform: Transform<In, Out, InKey, OutKey>,
): Transform<In, Out, InKey, OutKey> {
  return transform;
}

/** Any transform, whatever its types. It can be handed on, not called. */
export type AnyTransform = Transform<never, unknown, never, unknown>;

/** A transform as a compiled pipeline calls it: its types are known to its author only. */
export type TransformFunction = (record: TransformInput<unknown, unknown>, context: TransformContext) => unknown;
