import type { InputRecord } from '../pipeline/ports.ts';
import { errorType } from '../transform/errors.ts';
import { userStack } from '../transform/stack.ts';

const MAX_MESSAGE_LENGTH = 1_000;

/** Why a record was given up: what a dead letter says in either format. Free of secrets, and bounded. */
export interface Failure {
  readonly pipeline: string;
  /** The error's type: see `errorType`. */
  readonly exception: string;
  readonly message: string;
  /** The frames in the user's files, one a line; empty where there is none. */
  readonly stacktrace: string;
  /** How often the record was tried. */
  readonly attempts: number;
  readonly failedAt: Date;
  readonly record: InputRecord;
}

export function describeFailure(
  record: InputRecord,
  error: Error,
  attempts: number,
  { pipeline, redact, now }: { pipeline: string; redact: (text: string) => string; now: () => number },
): Failure {
  return {
    pipeline,
    exception: redact(errorType(error)),
    // Redacted first: of a secret that is cut in half, the half would stay.
    message: cut(redact(error.message)),
    stacktrace: redact(userStack(error)),
    attempts,
    failedAt: new Date(now()),
    record,
  };
}

function cut(text: string): string {
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text;
}
