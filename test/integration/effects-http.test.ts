import { readFileSync } from 'node:fs';

import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import type { HttpConfig } from '../../src/config/compiled.ts';
import { HttpAdapter } from '../../src/effects/http/http-adapter.ts';
import { RecordHeaders } from '../../src/transform/record-headers.ts';
import { createAuthority } from '../helpers/authority.ts';
import { failureOf, saying } from '../helpers/effect-failure.ts';
import { effectRecord } from '../helpers/effect-record.ts';
import { startStubService, type StubMode, type StubService } from '../helpers/stub-service.ts';

const SECRET = 'desk-token-1';
let service: StubService;

beforeEach(async () => {
  service = await startStubService();
});
afterEach(() => service.close());

function create(given: Partial<HttpConfig> = {}): HttpAdapter {
  const adapter = new HttpAdapter(
    {
      url: `${service.url}/delays/{key}`,
      method: 'POST',
      headers: {},
      body: { type: 'value' },
      timeoutMs: 5_000,
      conflictIsDone: false,
      connections: 2,
      bearerToken: null,
      tls: null,
      ...given,
    },
    { place: 'effects.notify-desk.http', redact: (text) => text.replaceAll(SECRET, '[redacted]') },
  );
  onTestFinished(() => adapter.close());
  return adapter;
}

async function opened(given: Partial<HttpConfig> = {}): Promise<HttpAdapter> {
  const adapter = create(given);
  await adapter.open();
  return adapter;
}

const keys = () => service.requests.map(({ idempotencyKey }) => idempotencyKey);
const answer = (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): StubMode => ({
  type: 'answer',
  status,
  headers,
  body,
});

describe('a request', () => {
  it('has the value as JSON, the token and the event id, on a connection that is kept', async () => {
    const adapter = await opened({ bearerToken: SECRET, connections: 1 });
    const batch = ['A', 'B', 'C'].map((key, index) =>
      effectRecord({ key, value: { minutes: index, big: 2n ** 60n, list: [null] }, eventId: `id-${index}` }),
    );
    expect(await adapter.apply(batch)).toEqual(['applied', 'applied', 'applied']);
    expect(service.requests.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
      'POST /delays/A {"minutes":0,"big":1152921504606846976,"list":[null]}',
      'POST /delays/B {"minutes":1,"big":1152921504606846976,"list":[null]}',
      'POST /delays/C {"minutes":2,"big":1152921504606846976,"list":[null]}',
    ]);
    expect(keys()).toEqual(['id-0', 'id-1', 'id-2']);
    expect(service.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      'content-type': 'application/json',
    });
    expect(service.connections).toBe(1);
  });

  it('encodes what it puts into the URL', async () => {
    const adapter = await opened({ url: `${service.url}/a/{key}/b?q={value.q}&v=1` });
    await adapter.apply([effectRecord({ key: '../x?y#z %', value: { q: 'a&b=ü' } })]);
    expect(service.requests[0]?.url).toBe('/a/..%2Fx%3Fy%23z%20%25/b?q=a%26b%3D%C3%BC&v=1');
  });

  it.each([
    ['', '""'],
    ['..', '".."'],
    [null, 'nothing at key'],
    ['\ud800', 'Unicode'],
  ])('calls a record poison whose key %j would ask for something else', async (key, named) => {
    const failure = await failureOf((await opened()).apply([effectRecord({ key })]));
    expect(failure).toMatchObject({ kind: 'poison', message: saying(named) });
    expect(service.requests).toEqual([]);
  });

  it('fills a template, with types where a placeholder stands alone', async () => {
    const template = {
      flight: '{key}',
      minutes: '{value.delay}',
      none: '{value.none}',
      text: 'late: {value.delay} {{min}}',
      at: ['{timestamp}'],
      fixed: 1,
    };
    const adapter = await opened({ body: { type: 'template', template }, headers: { 'X-Trace': 'of {header.trace}' } });
    await adapter.apply([
      effectRecord({ key: 'A', value: { delay: 5 }, headers: RecordHeaders.from({ trace: 't1' }) }),
    ]);
    expect(JSON.parse(service.requests[0]?.body ?? '')).toEqual({
      flight: 'A',
      minutes: 5,
      none: null,
      text: 'late: 5 {min}',
      at: ['2023-11-14T22:13:20.000Z'],
      fixed: 1,
    });
    expect(service.requests[0]?.headers['x-trace']).toBe('of t1');
  });

  it('can go without a body', async () => {
    await (await opened({ method: 'DELETE', body: { type: 'none' } })).apply([effectRecord({ key: 'A' })]);
    expect(service.requests[0]).toMatchObject({ method: 'DELETE', body: '' });
    expect(service.requests[0]?.headers['content-type']).toBeUndefined();
  });

  it('never lets two event ids become one key', async () => {
    const ids = ['a b', 'a%20b', 'ä', ' a', 'a', 'a\n', '100%'];
    await (await opened()).apply(ids.map((eventId) => effectRecord({ eventId })));
    expect(new Set(keys()).size).toBe(ids.length);
    expect(keys()).toContain('a%20b');
  });

  it('does not carry what would break a header', async () => {
    const adapter = await opened({ headers: { 'X-Text': '{value.text}' } });
    expect(await failureOf(adapter.apply([effectRecord({ value: { text: 'a\r\nX-Evil: 1' } })]))).toMatchObject({
      kind: 'poison',
    });
  });
});

describe('what is refused at the start', () => {
  it.each([
    [
      'an Idempotency-Key',
      { headers: { 'IDEMPOTENCY-key': 'x' } },
      'headers: the header IDEMPOTENCY-key can not be set: it is the event id',
    ],
    ['an Authorization beside a token', { headers: { authorization: 'x' }, bearerToken: 't' }, 'bearerToken'],
    ['a length', { headers: { 'Content-Length': '1' } }, 'follows from the body'],
    ['a name that is none', { headers: { 'X Y': '1' } }, 'no name of a header'],
    ['a host from the record', { url: 'https://{key}.example/' }, 'url: '],
    ['a password in the URL', { url: 'https://a:b@desk.example/' }, 'bearerToken'],
    ['a placeholder that means nothing', { url: 'https://desk.example/{kye}' }, 'unknown reference "kye"'],
    [
      'one in the body',
      { body: { type: 'template', template: { a: { b: ['{valeu.x}'] } } } },
      'body: a.b[0]: unknown reference "valeu.x"',
    ],
    ['a single brace', { url: 'https://desk.example/{key' }, 'single "{"'],
  ] as const)('is %s', (_, given, named) => {
    expect(() => create(given)).toThrow(named);
    expect(() => create(given)).toThrow(/^effects\.notify-desk\.http\./);
  });
});

describe('an answer', () => {
  it('that is reset after the effect is asked for again with the same key, and is one effect', async () => {
    const adapter = await opened();
    const record = effectRecord({ eventId: 'id-1' });
    service.next({ type: 'apply-then-reset' });
    expect(await failureOf(adapter.apply([record]))).toMatchObject({ kind: 'transient' });
    expect(await adapter.apply([record])).toEqual(['applied']);
    expect(keys()).toEqual(['id-1', 'id-1']);
    expect(service.effects.size).toBe(1);
  });

  it.each(['apply-then-cut', 'apply-then-stall'] as const)(
    'that ends after the head of a 2xx is done: %s',
    async (type) => {
      const adapter = await opened({ timeoutMs: 500 });
      service.next({ type });
      expect(await adapter.apply([effectRecord(), effectRecord()])).toEqual(['applied', 'applied']);
      expect(service.requests).toHaveLength(2);
    },
  );

  it.each([408, 425, 429, 500, 502, 503])('of %i is asked for again with the same key', async (status) => {
    const adapter = await opened();
    service.next(answer(status));
    const record = effectRecord({ eventId: 'id-1' });
    expect(await failureOf(adapter.apply([record]))).toMatchObject({ kind: 'transient', retryAfterMs: undefined });
    expect(await adapter.apply([record])).toEqual(['applied']);
    expect(keys()).toEqual(['id-1', 'id-1']);
  });

  it('says when to come back', async () => {
    const adapter = await opened();
    service.next(
      answer(429, { 'retry-after': '7' }),
      answer(503, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }),
    );
    expect(await failureOf(adapter.apply([effectRecord()]))).toMatchObject({ kind: 'transient', retryAfterMs: 7_000 });
    const { retryAfterMs = 0 } = await failureOf(adapter.apply([effectRecord()]));
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('of 409 is poison, or done before where it is configured so', async () => {
    service.always({ type: 'conflict-on-repeat' });
    const record = effectRecord();
    expect(await (await opened()).apply([record])).toEqual(['applied']);
    expect(await failureOf((await opened()).apply([record]))).toMatchObject({ kind: 'poison' });
    expect(await (await opened({ conflictIsDone: true })).apply([record])).toEqual(['repeat']);
  });

  it.each([401, 403])('of %i holds everything', async (status) => {
    service.next(answer(status));
    expect(await failureOf((await opened()).apply([effectRecord()]))).toMatchObject({ kind: 'denied' });
  });

  it.each([400, 404, 410, 422])('of %i is poison, with its beginning and without secrets', async (status) => {
    service.next(answer(status, {}, `no\n  "such" ${SECRET} flight ${'x'.repeat(100_000)}`));
    const failure = await failureOf((await opened()).apply([effectRecord({ key: 'A' })]));
    expect(failure.kind).toBe('poison');
    expect(failure.message).toContain(
      `POST ${service.url}/delays/A: status ${status}: no "such" [redacted] flight xxx`,
    );
    expect(failure.message.length).toBeLessThan(700);
  });

  it('that redirects is not followed', async () => {
    service.next(answer(307, { location: 'https://elsewhere.example/' }));
    const failure = await failureOf((await opened()).apply([effectRecord()]));
    expect(failure).toMatchObject({ kind: 'poison', message: saying('https://elsewhere.example/') });
    expect(service.requests).toHaveLength(1);
  });

  it('that does not come is not waited for any longer than configured', async () => {
    const adapter = await opened({ timeoutMs: 200 });
    service.next({ type: 'hang' });
    expect(await failureOf(adapter.apply([effectRecord()]))).toMatchObject({ kind: 'transient' });
    service.next({ type: 'slow', ms: 20 });
    expect(await adapter.apply([effectRecord()])).toEqual(['applied']);
  });

  it('can not come from a service that is away', async () => {
    const adapter = await opened();
    await service.close();
    expect(await failureOf(adapter.apply([effectRecord()]))).toMatchObject({
      kind: 'transient',
      message: saying('ECONNREFUSED'),
    });
    service = await startStubService();
  });
});

it('sends an event id that comes twice two times with one key', async () => {
  const batch = [effectRecord({ eventId: 'a' }), effectRecord({ eventId: 'a' })];
  await (await opened()).apply(batch);
  expect(keys()).toEqual(['a', 'a']);
  expect(service.effects.size).toBe(1);
});

describe('TLS', () => {
  it('knows the service by its authority, and shows a certificate of its own', async () => {
    const authority = createAuthority();
    const files = { ca: authority.ca, ...authority.issue('service') };
    const pem = { ca: readFileSync(files.ca), cert: readFileSync(files.certificate), key: readFileSync(files.key) };
    const safe = await startStubService({ ...pem, requestCert: true, rejectUnauthorized: true });
    onTestFinished(async () => {
      await safe.close();
      authority.remove();
    });
    const url = `${safe.url}/delays`;
    const tls = { caPath: files.ca, certificatePath: files.certificate, keyPath: files.key };

    expect(await (await opened({ url, tls })).apply([effectRecord()])).toEqual(['applied']);
    const stranger = await failureOf((await opened({ url })).apply([effectRecord()]));
    expect(stranger).toMatchObject({
      kind: 'denied',
      message: saying('effects.notify-desk.http.tls.ca'),
    });
    const nameless = await opened({ url, tls: { ...tls, certificatePath: null, keyPath: null }, timeoutMs: 2_000 });
    expect(await failureOf(nameless.apply([effectRecord()]))).toBeInstanceOf(Error);
    expect(safe.requests).toHaveLength(1);
  });

  it('names a file that can not be read', async () => {
    const tls = { caPath: '/nowhere/ca.pem', certificatePath: null, keyPath: null };
    expect(await failureOf(create({ tls }).open())).toMatchObject({
      kind: 'denied',
      message: saying('effects.notify-desk.http.tls.ca: can not read /nowhere/ca.pem: ENOENT'),
    });
  });
});
