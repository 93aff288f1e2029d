/** What users import as `millrace`. */

// Without it, where nothing else brings Node's types in, TypeScript takes each Buffer for `any` and says nothing.
/// <reference types="node" preserve="true" />
export {
  defineTransform,
  type Transform,
  type TransformContext,
  type TransformInput,
  type TransformLogger,
  type TransformOutput,
  type TransformResult,
} from './transform/define-transform.ts';
export { PoisonRecord } from './transform/poison-record.ts';
export { type HeadersInit, type HeaderValue, RecordHeaders } from './transform/record-headers.ts';
export { defineEffect, type Effect, type EffectEvent, type EffectOutcome } from './effects/define-effect.ts';
export { type Applied, EffectFailure } from './effects/adapter.ts';
export type { DatabaseTransaction, PostgresEffect } from './effects/postgres/effect.ts';
