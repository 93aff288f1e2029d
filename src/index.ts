/** What users import as `millrace`. */
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
