import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpListenError, serveHttp, type HttpSources } from '../../../src/observability/http.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { redactSecrets } from '../../../src/observability/redact.ts';
import type { PipelineStatus } from '../../../src/pipeline/observer.ts';
import { LogLines } from './log-lines.ts';
import { parseSamples } from './scrape.ts';

const HOST = '127.0.0.1';
const PAGE = ['/', '/page/style.css', '/page/script.js'];

const RUNNING: PipelineStatus = {
  pipeline: 'route',
  worker: 0,
  state: 'running',
  ready: true,
  reasons: [],
  partitions: [{ topic: 'flights', partition: 0, committed: 7, lag: 3, held: null }],
};
const HELD: PipelineStatus = {
  ...RUNNING,
  pipeline: 'held',
  ready: false,
  reasons: ['flights-0 is held: refused for hunter2'],
  partitions: [{ topic: 'flights', partition: 0, committed: 7, lag: 3, held: 'refused for hunter2' }],
};

async function serving(sources: Partial<HttpSources> = {}) {
  const lines = new LogLines();
  const log = { level: 'info', format: 'json' } as const;
  const logger = createLogger({ application: 'a', instance: 'i', log, secrets: ['hunter2'] }, { destination: lines });
  const server = await serveHttp(
    { host: HOST, port: 0 },
    {
      metrics: () => Promise.resolve('up 1\n'),
      statuses: () => [RUNNING],
      overview: () => Promise.reject(new Error('nobody asked for it')),
      redact: redactSecrets(['hunter2']),
      ...sources,
    },
    logger,
  );
  onTestFinished(() => server.close(0));
  return { server, lines, url: (path: string) => `http://${HOST}:${server.port}${path}` };
}

describe('the HTTP endpoints', () => {
  it('serve a scrape that parses, with its content type', async () => {
    const { registry, ...metrics } = createMetrics('1.2.3', () => [RUNNING]);
    metrics.observer({
      kind: 'pipeline',
      name: 'route',
      input: {
        topics: ['flights'],
        key: { type: 'json' },
        value: { type: 'json' },
        startAt: 'earliest',
        onDataLoss: 'stop',
      },
      outputs: [],
    });
    const { url } = await serving({ metrics: () => registry.metrics() });

    const response = await fetch(url('/metrics?name=x'));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(parseSamples(await response.text())).toMatchObject({
      'millrace_lag_records{pipeline="route",topic="flights",partition="0"}': 3,
      'millrace_transactions_total{pipeline="route",outcome="committed"}': 0,
    });
  });

  it('say that the process lives', async () => {
    const { url } = await serving({ statuses: () => [HELD] });
    const response = await fetch(url('/live'));
    expect([response.status, await response.json()]).toEqual([200, { live: true }]);
  });

  it('say ready while every pipeline is', async () => {
    const { url } = await serving();
    const response = await fetch(url('/ready'));
    expect([response.status, await response.json()]).toEqual([
      200,
      { ready: true, pipelines: [{ pipeline: 'route', worker: 0, state: 'running', ready: true, reasons: [] }] },
    ]);
  });

  it('say not ready, and why, as soon as one pipeline is not', async () => {
    const { url } = await serving({ statuses: () => [RUNNING, HELD] });
    const response = await fetch(url('/ready'));
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      ready: false,
      pipelines: [
        { ready: true },
        { pipeline: 'held', ready: false, reasons: ['flights-0 is held: refused for [redacted]'] },
      ],
    });
  });

  it('say not ready before there is a pipeline', async () => {
    const { url } = await serving({ statuses: () => [] });
    expect((await fetch(url('/ready'))).status).toBe(503);
  });

  it('show the status of the partitions, without secrets', async () => {
    const { url } = await serving({ statuses: () => [RUNNING, HELD] });
    const body = await (await fetch(url('/status'))).text();
    expect(JSON.parse(body)).toMatchObject({
      pipelines: [{ partitions: RUNNING.partitions }, { partitions: [{ held: 'refused for [redacted]' }] }],
    });
    expect(body).not.toContain('hunter2');
  });

  it('answer HEAD like GET, without the body', async () => {
    const { url } = await serving();
    const [head, whole] = [await fetch(url('/status'), { method: 'HEAD' }), await fetch(url('/status'))];
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    expect(head.headers.get('content-length')).toBe(String((await whole.text()).length));
  });

  it('list the endpoints when asked for another', async () => {
    const { url } = await serving();
    const response = await fetch(url('/metric'));
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: 'no /metric here', endpoints: ['/metrics', '/live', '/ready', '/status', '/overview', ...PAGE] },
    ]);
  });

  it('refuse to be written to', async () => {
    const { url } = await serving();
    const response = await fetch(url('/status'), { method: 'POST', body: '{}' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  });

  it('answer 500 and log the reason when a source fails, and go on', async () => {
    const { url, lines } = await serving({ metrics: () => Promise.reject(new Error('broken gauge')) });
    expect((await fetch(url('/metrics'))).status).toBe(500);
    expect(lines.parsed()).toMatchObject([{ level: 'error', path: '/metrics', err: { message: 'broken gauge' } }]);
    expect((await fetch(url('/live'))).status).toBe(200);
  });

  it('close at once although a scraper wants to keep its connection', async () => {
    const { server, url } = await serving();
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const [response] = (await once(get(url('/live'), { agent }), 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');

    const start = performance.now();
    await server.close(60_000);
    expect(performance.now() - start).toBeLessThan(1_000);
    await expect(fetch(url('/live'))).rejects.toThrow();
  });

  it('cut a connection on which nothing was asked at the deadline of the close', async () => {
    const { server } = await serving();
    const silent = connect(server.port, HOST);
    const ended = once(silent, 'close');
    await once(silent, 'connect');
    await server.close(50);
    await ended;
  });

  it('cut a request that outlives the deadline of the close', async () => {
    let asked = (): void => undefined;
    const underWay = new Promise<void>((resolve) => (asked = resolve));
    const { server, url } = await serving({
      metrics: () => {
        asked();
        return new Promise(() => undefined);
      },
    });
    const scrape = expect(fetch(url('/metrics'))).rejects.toThrow();
    await underWay;
    await server.close(50);
    await scrape;
  });

  it('let a running request end, and wait no longer than for that', async () => {
    let asked = (): void => undefined;
    let answer: (page: string) => void = () => undefined;
    const underWay = new Promise<void>((resolve) => (asked = resolve));
    const page = new Promise<string>((resolve) => (answer = resolve));
    const { server, url } = await serving({
      metrics: () => {
        asked();
        return page;
      },
    });
    const scrape = fetch(url('/metrics')).then((response) => response.text());
    await underWay;
    const closed = server.close(60_000);
    answer('late 1\n');
    const start = performance.now();
    await closed;
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(await scrape).toBe('late 1\n');
  });

  it('name the address and the remedy when the port is in use', async () => {
    const holder = createServer().listen(0, HOST);
    await once(holder, 'listening');
    onTestFinished(() => void holder.close());
    const { port } = holder.address() as { port: number };

    const refused = await listenError({ host: HOST, port });
    expect(refused.message).toBe(
      `cannot serve HTTP on ${HOST}:${port}: the port is in use; stop the process that holds it, or set http.port to another one (0 takes any free one)`,
    );
  });

  it.each(['192.0.2.1', '2001:db8::1'])(
    'name the address and the remedy when it is not of this machine (%s)',
    async (host) => {
      const refused = await listenError({ host, port: 0 });
      expect(refused.message).toContain(`cannot serve HTTP on ${host.includes(':') ? `[${host}]` : host}:0`);
      expect(refused.message).toContain('http.host');
    },
  );
});

async function listenError(address: { host: string; port: number }): Promise<HttpListenError> {
  const logger = createLogger(
    { application: 'a', instance: 'i', log: { level: 'info', format: 'json' }, secrets: [] },
    { destination: new LogLines() },
  );
  const sources = {
    metrics: () => Promise.resolve(''),
    statuses: () => [],
    overview: () => Promise.reject(new Error('nobody asked for it')),
    redact: (text: string) => text,
  };
  const error: unknown = await serveHttp(address, sources, logger).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HttpListenError)) throw new Error('expected the address to be refused', { cause: error });
  return error;
}
