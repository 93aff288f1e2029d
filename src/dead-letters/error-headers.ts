import type { RawHeaders } from '../pipeline/ports.ts';
import type { Failure } from './failure.ts';

/** The suffixes that Kafka Streams has too are named as there (KIP-1034). */
export const ERROR_HEADER_PREFIX = '__millrace.errors.';

export function errorHeaders(failure: Failure): RawHeaders {
  const { record } = failure;
  const headers = [
    header('exception', failure.exception),
    header('message', failure.message),
    header('topic', record.topic),
    header('partition', String(record.partition)),
    header('offset', String(record.offset)),
    header('timestamp', String(record.timestamp)),
    header('attempts', String(failure.attempts)),
    header('failed-at', failure.failedAt.toISOString()),
    header('pipeline', failure.pipeline),
  ];
  return failure.stacktrace === '' ? headers : [...headers, header('stacktrace', failure.stacktrace)];
}

/** The record's own headers. A dead letter that was replayed and failed again says only why it failed last. */
export function withoutErrorHeaders(headers: RawHeaders | undefined): RawHeaders {
  return headers?.filter((each) => !Object.keys(each).some((name) => name.startsWith(ERROR_HEADER_PREFIX))) ?? [];
}

function header(suffix: string, value: string): Readonly<Record<string, Buffer>> {
  return { [ERROR_HEADER_PREFIX + suffix]: Buffer.from(value, 'utf8') };
}
