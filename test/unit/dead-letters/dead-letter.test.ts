import { describe, expect, it } from 'vitest';
import { createDeadLetters } from '../../../src/dead-letters/dead-letter.ts';
import { PoisonRecord, RecordHeaders } from '../../../src/index.ts';
import type { InputRecord, OutputRecord } from '../../../src/pipeline/ports.ts';

const FAILED_AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const redact = (text: string) => text.replaceAll('hunter2', '[redacted]');
const letters = (format: 'headers' | 'json') =>
  createDeadLetters({ topic: 'flights.dead', format, pipeline: 'route-flights', redact, now: () => FAILED_AT });

const record: InputRecord = {
  topic: 'flights',
  partition: 3,
  offset: 42,
  timestamp: 1_700_000_000_000,
  key: Buffer.from('SFO'),
  value: Buffer.from('{"delay":"?"}'),
};
const failed = (changes: Partial<InputRecord> = {}, error: Error = new PoisonRecord('delay: no number')) =>
  letters('headers')({ ...record, ...changes }, error, 2);
const failedAsJson = (changes: Partial<InputRecord> = {}, error: Error = new PoisonRecord('delay: no number')) =>
  letters('json')({ ...record, ...changes }, error, 2);

const headersOf = ({ headers }: OutputRecord) => RecordHeaders.fromRaw(headers);
const errorsOf = (letter: OutputRecord) =>
  Object.fromEntries(
    [...headersOf(letter)]
      .filter(([name]) => name.startsWith('__millrace.errors.'))
      .map(([name, value]) => [name.slice('__millrace.errors.'.length), value.toString()]),
  );
const documentOf = ({ value }: OutputRecord) => JSON.parse(String(value)) as Record<string, unknown>;

describe('a dead letter', () => {
  it.each(['headers', 'json'] as const)('as %s keeps key and timestamp, and goes to its topic', (format) => {
    expect(letters(format)(record, new Error('no'), 1)).toMatchObject({
      output: 'dead-letter',
      topic: 'flights.dead',
      key: record.key,
      timestamp: record.timestamp,
    });
  });

  it('keeps the value and the headers byte by byte', () => {
    const headers = [{ a: Buffer.from([0x00, 0xff]) }, { b: Buffer.alloc(0) }, { a: Buffer.from('2') }];
    const letter = failed({ headers });
    expect(letter.value).toBe(record.value);
    expect(letter.headers?.slice(0, 3)).toEqual(headers);
  });

  it('keeps null and empty apart', () => {
    expect(failed({ key: null, value: null })).toMatchObject({ key: null, value: null });
    expect(failed({ key: Buffer.alloc(0), value: Buffer.alloc(0) })).toMatchObject({
      key: Buffer.alloc(0),
      value: Buffer.alloc(0),
    });
  });

  it('says in headers what failed, where and how often', () => {
    expect(errorsOf(failed())).toEqual({
      exception: 'PoisonRecord',
      message: 'delay: no number',
      topic: 'flights',
      partition: '3',
      offset: '42',
      timestamp: '1700000000000',
      attempts: '2',
      'failed-at': '2026-01-02T03:04:05.678Z',
      pipeline: 'route-flights',
      stacktrace: expect.stringContaining('dead-letter.test.ts') as string,
    });
  });

  it('has a stack trace of the user’s frames only, and none where there is no such frame', () => {
    expect(errorsOf(failed())['stacktrace']).not.toMatch(/node_modules|node:internal/);
    const error = Object.assign(new Error('no'), { stack: 'Error: no\n    at node:internal/x:1:1' });
    expect(errorsOf(failed({}, error))).not.toHaveProperty('stacktrace');
  });

  it('carries the event id of the record, or the one that its output would have had', () => {
    expect(failed().eventId).toBe('flights/3/42/0');
    expect(failedAsJson().eventId).toBe('flights/3/42/0');
    const headers = [{ 'event-id': Buffer.from('order-7') }];
    expect(headersOf(failed({ headers })).getAll('event-id').map(String)).toEqual(['order-7']);
    expect(failed({ headers }).eventId).toBeUndefined();
    expect(failedAsJson({ headers })).toMatchObject({ eventId: 'order-7' });
  });

  it('replaces what an earlier failure wrote, however often it is replayed', () => {
    let letter = failed({ headers: [{ trace: Buffer.from('t') }] });
    for (const offset of [7, 8, 9]) {
      letter = failed({ topic: 'replayed', offset, headers: letter.headers ?? [] }, new TypeError('later'));
    }
    expect(letter.headers).toHaveLength(11);
    expect(headersOf(letter).getAll('__millrace.errors.exception').map(String)).toEqual(['TypeError']);
    expect(errorsOf(letter)).toMatchObject({ topic: 'replayed', offset: '9', message: 'later' });
    expect(headersOf(letter).text('trace')).toBe('t');
  });

  it('cuts a long message and takes secrets out of it, one on the edge too', () => {
    const long = errorsOf(failed({}, new Error('x'.repeat(1_000_000))))['message'];
    expect(long).toBe(`${'x'.repeat(1_000)}…`);
    const edge = errorsOf(failed({}, new Error(`${'x'.repeat(997)}hunter2`)))['message'];
    expect(edge).not.toContain('hun');
    const error = Object.assign(new Error('no'), { stack: 'Error: no\n    at run (/srv/hunter2/transform.ts:1:1)' });
    expect(errorsOf(failed({}, error))['stacktrace']).toBe('at run (/srv/[redacted]/transform.ts:1:1)');
  });
});

describe('a dead letter as one JSON document', () => {
  it('tells everything about the record and its failure', () => {
    const headers = [{ trace: Buffer.from('t1') }, { raw: Buffer.from([0xff]) }, { trace: Buffer.from('t2') }];
    expect(documentOf(failedAsJson({ headers }))).toEqual({
      pipeline: 'route-flights',
      topic: 'flights',
      partition: 3,
      offset: 42,
      timestamp: 1_700_000_000_000,
      key: 'SFO',
      keyEncoding: 'utf-8',
      value: '{"delay":"?"}',
      valueEncoding: 'utf-8',
      headers: [
        { name: 'trace', value: 't1', encoding: 'utf-8' },
        { name: 'raw', value: '/w==', encoding: 'base64' },
        { name: 'trace', value: 't2', encoding: 'utf-8' },
      ],
      error: {
        type: 'PoisonRecord',
        message: 'delay: no number',
        stacktrace: expect.stringContaining('dead-letter.test.ts') as string,
      },
      attempts: 2,
      failedAt: '2026-01-02T03:04:05.678Z',
    });
  });

  it.each([
    ['text', Buffer.from('Zürich \uFEFF ✈')],
    ['no text', Buffer.from([0x00, 0xff, 0xc3])],
    ['half a character', Buffer.from([0xe2, 0x9c])],
    ['nothing', Buffer.alloc(0)],
    ['a number beyond 2^53', Buffer.from('9007199254740993')],
  ])('loses nothing of %s', (_, bytes) => {
    const { value, valueEncoding } = documentOf(failedAsJson({ value: bytes }));
    expect(Buffer.from(String(value), valueEncoding as BufferEncoding)).toEqual(bytes);
  });

  it('has null for a missing key and for a tombstone', () => {
    expect(documentOf(failedAsJson({ key: null, value: null }))).toMatchObject({
      key: null,
      keyEncoding: null,
      value: null,
      valueEncoding: null,
    });
  });

  it('leaves out the error headers of an earlier failure', () => {
    const headers = failed({ headers: [{ trace: Buffer.from('t') }] }).headers ?? [];
    expect(documentOf(failedAsJson({ headers }))['headers']).toEqual([
      { name: 'trace', value: 't', encoding: 'utf-8' },
    ]);
  });
});
