import { inspect, types } from 'node:util';
import { isPoisonRecord } from './poison-record.ts';

const MAX_TYPE_LENGTH = 64;

/** The record, or what the transform made of it, is at fault: the same input fails the same way again. */
export abstract class RecordError extends Error {}

/** The input's bytes are not what the configuration says they are. */
export class DecodeError extends RecordError {
  override readonly name = 'DecodeError';
}

/** A key or a value of the transform does not fit the format of the output. */
export class EncodeError extends RecordError {
  override readonly name = 'EncodeError';
}

/** The transform returned something that is not a record to write. */
export class InvalidOutputError extends RecordError {
  override readonly name = 'InvalidOutputError';
}

/** Whether another try of the same record could end differently. */
export function isRetriable(error: Error): boolean {
  return !(error instanceof RecordError) && !isPoisonRecord(error);
}

/** A name for the kind of error: letters, digits, `_`, `.`, `-`, at most 64 of them, so that it fits a label and a header. */
export function errorType(error: Error): string {
  // A class that sets no name of its own says only "Error".
  const name: unknown = error.name === 'Error' ? error.constructor.name : error.name;
  const bounded = String(name)
    .replace(/[^\w.-]/g, '_')
    .slice(0, MAX_TYPE_LENGTH);
  return bounded === '' ? 'Error' : bounded;
}

/** JavaScript lets anything be thrown: whatever it was, an Error. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error || types.isNativeError(thrown)) return thrown;
  const text = typeof thrown === 'string' ? thrown : inspect(thrown, { depth: 1, breakLength: Infinity });
  return new ThrownValue(`${text} (thrown as it is, not as an Error)`, { cause: thrown });
}

class ThrownValue extends Error {
  override readonly name = 'ThrownValue';
}
