import type { DeadLetterConfig } from '../config/compiled.ts';
import type { InputRecord, OutputRecord } from '../pipeline/ports.ts';
import { broughtEventId, EventIds } from '../transform/event-id.ts';
import { errorHeaders, withoutErrorHeaders } from './error-headers.ts';
import { describeFailure } from './failure.ts';
import { jsonDocument } from './json-document.ts';

/** Stands where outputs have their name. */
const DEAD_LETTER_OUTPUT = 'dead-letter';

export interface DeadLetterOptions extends DeadLetterConfig {
  readonly pipeline: string;
  /** Takes secrets out of an error's text. */
  readonly redact: (text: string) => string;
  /** Milliseconds since the epoch; the clock unless a test says otherwise. */
  readonly now?: () => number;
}

/** Makes the dead letter of a record that was given up after `attempts` tries. */
export type DeadLetterOf = (record: InputRecord, error: Error, attempts: number) => OutputRecord;

/**
 * Key, timestamp and event id of a dead letter are those of its record in both formats. `headers`: its value and headers too, with
 * headers about the error added. `json`: everything in one JSON document, see `jsonDocument`.
 */
export function createDeadLetters({
  topic,
  format,
  pipeline,
  redact,
  now = Date.now,
}: DeadLetterOptions): DeadLetterOf {
  const ids = new EventIds();
  return (record, error, attempts) => {
    const failure = describeFailure(record, error, attempts, { pipeline, redact, now });
    const brought = broughtEventId(record.headers);
    const own = withoutErrorHeaders(record.headers);
    const isDocument = format === 'json';
    const letter: OutputRecord = {
      output: DEAD_LETTER_OUTPUT,
      topic,
      key: record.key,
      value: isDocument ? jsonDocument(failure, own) : record.value,
      timestamp: record.timestamp,
    };
    ids.stamp(letter, isDocument ? undefined : own, record, brought, 0);
    if (!isDocument) letter.headers = [...own, ...errorHeaders(failure)];
    return letter;
  };
}
