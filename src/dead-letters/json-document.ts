import { isUtf8 } from 'node:buffer';
import type { RawHeaders } from '../pipeline/ports.ts';
import type { Failure } from './failure.ts';

/** Bytes as JSON can hold them without loss: text where they are UTF-8, else base64. */
interface Written {
  value: string | null;
  encoding: 'utf-8' | 'base64' | null;
}

/**
 * A dead letter as one JSON document. JSON in the value stays text: parsing and writing it again would lose what JavaScript's numbers
 * can not hold.
 */
export function jsonDocument(failure: Failure, headers: RawHeaders): Buffer {
  const { record } = failure;
  const key = write(record.key);
  const value = write(record.value);
  const document = {
    pipeline: failure.pipeline,
    topic: record.topic,
    partition: record.partition,
    offset: record.offset,
    timestamp: record.timestamp,
    key: key.value,
    keyEncoding: key.encoding,
    value: value.value,
    valueEncoding: value.encoding,
    headers: headers.flatMap((header) => Object.entries(header).map(([name, bytes]) => ({ name, ...write(bytes) }))),
    error: {
      type: failure.exception,
      message: failure.message,
      stacktrace: failure.stacktrace === '' ? null : failure.stacktrace,
    },
    attempts: failure.attempts,
    failedAt: failure.failedAt.toISOString(),
  };
  return Buffer.from(JSON.stringify(document), 'utf8');
}

function write(bytes: Buffer | null): Written {
  if (bytes === null) return { value: null, encoding: null };
  return isUtf8(bytes)
    ? { value: bytes.toString('utf8'), encoding: 'utf-8' }
    : { value: bytes.toString('base64'), encoding: 'base64' };
}
