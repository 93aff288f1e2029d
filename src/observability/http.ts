import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import type { Overview } from '../page/overview.ts';
import type { PipelineStatus } from '../pipeline/observer.ts';
import type { Logger } from './logger.ts';
import { redactedJson, type Redact } from './redact.ts';

/** What the endpoints show. */
export interface HttpSources {
  /** The page for Prometheus, in its text format. */
  metrics: () => Promise<string>;
  statuses: () => readonly PipelineStatus[];
  /** What the status page shows. */
  overview: () => Promise<Overview>;
  /** Applied to all words in an answer: reasons may quote errors. */
  redact: Redact;
}

export interface HttpServer {
  /** The port in use: the system's choice where 0 was asked for. */
  readonly port: number;
  /** Takes no more connections, lets running requests end, and cuts those that take longer than `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

/** The endpoints cannot be offered where the configuration wants them; the message names the address and the remedy. */
export class HttpListenError extends Error {
  override readonly name = 'HttpListenError';
}

/**
 * Serves `/metrics`, `/live`, `/ready` and `/status`, and a page for people at `/`.
 *
 * @throws HttpListenError when the address cannot be listened on.
 */
export async function serveHttp(
  address: { host: string; port: number },
  sources: HttpSources,
  logger: Logger,
): Promise<HttpServer> {
  const server = createServer(answerFrom(endpointsOf(sources), sources.redact, logger));
  await listen(server, address);
  // Such as no file descriptor for one more connection: that connection fails, the pipelines go on.
  server.on('error', (err) => logger.warn({ err }, 'the HTTP server could not accept a connection'));
  return { port: (server.address() as AddressInfo).port, close: (deadlineMs) => close(server, deadlineMs) };
}

interface Answer {
  status: number;
  contentType: string;
  body: string;
}

type Endpoint = () => Answer | Promise<Answer>;

/** The page's files, beside the compiled code. */
const PAGE: Readonly<Record<string, readonly [file: string, contentType: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/page/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/page/script.js': ['script.js', 'text/javascript; charset=utf-8'],
};

function endpointsOf({ metrics, statuses, overview, redact }: HttpSources): ReadonlyMap<string, Endpoint> {
  return new Map<string, Endpoint>([
    [
      '/metrics',
      async () => ({
        status: 200,
        contentType: Registry.PROMETHEUS_CONTENT_TYPE,
        // A label may hold the name of a user's error.
        body: redact(await metrics()),
      }),
    ],
    ['/live', () => json(200, { live: true }, redact)],
    [
      '/ready',
      () => {
        const pipelines = statuses().map(({ pipeline, worker, state, ready, reasons }) => ({
          pipeline,
          worker,
          state,
          ready,
          reasons,
        }));
        const ready = pipelines.length > 0 && pipelines.every((pipeline) => pipeline.ready);
        return json(ready ? 200 : 503, { ready, pipelines }, redact);
      },
    ],
    ['/status', () => json(200, { pipelines: statuses() }, redact)],
    ['/overview', async () => json(200, await overview(), redact)],
    ...Object.entries(PAGE).map(
      ([path, [file, contentType]]) =>
        [
          path,
          async () => ({
            status: 200,
            contentType,
            body: await readFile(new URL(`../page/${file}`, import.meta.url), 'utf8'),
          }),
        ] as const,
    ),
  ]);
}

function json(status: number, value: unknown, redact: Redact): Answer {
  return { status, contentType: 'application/json; charset=utf-8', body: `${redactedJson(value, redact)}\n` };
}

function answerFrom(endpoints: ReadonlyMap<string, Endpoint>, redact: Redact, logger: Logger): RequestListener {
  async function answer(method: string, path: string): Promise<Answer> {
    const endpoint = endpoints.get(path);
    if (endpoint === undefined)
      return json(404, { error: `no ${path} here`, endpoints: [...endpoints.keys()] }, redact);
    if (method !== 'GET' && method !== 'HEAD') return json(405, { error: `${path} answers GET and HEAD` }, redact);
    try {
      return await endpoint();
    } catch (err) {
      logger.error({ err, path }, 'an HTTP endpoint failed');
      return json(500, { error: `${path} failed; the log says why` }, redact);
    }
  }

  return (request, response) => {
    const path = (request.url ?? '/').replace(/\?.*/, '');
    void answer(request.method ?? 'GET', path).then(({ status, contentType, body }) => {
      response.writeHead(status, {
        'content-type': contentType,
        'content-length': Buffer.byteLength(body),
        'cache-control': 'no-store',
        // Topics, keys and errors are other people's words: the page runs nothing but its own script.
        'content-security-policy': "default-src 'self'; img-src data:; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        allow: 'GET, HEAD',
        // A scraper comes too seldom to use a kept connection again, and one that is kept holds up the shutdown.
        connection: 'close',
      });
      response.end(body); // Node leaves the body out where the request is HEAD.
    });
  };
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException): void => {
      const where = `${host.includes(':') ? `[${host}]` : host}:${port}`;
      reject(new HttpListenError(`cannot serve HTTP on ${where}: ${remedy(error)}`, { cause: error }));
    };
    server.once('error', refused);
    server.listen({ host, port }, () => {
      server.off('error', refused);
      resolve();
    });
  });
}

function remedy(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return 'the port is in use; stop the process that holds it, or set http.port to another one (0 takes any free one)';
    case 'EACCES':
      return 'no permission for this port; set http.port to one above 1023';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'this machine has no such address; set http.host to one of its own, or to 0.0.0.0 for all of them';
    default:
      return `${error.message}; check http.host and http.port`;
  }
}

function close(server: Server, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
    // The only error is that it is closed already, which is what was asked for.
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}
