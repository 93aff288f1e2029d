import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface StubRequest {
  readonly method: string;
  /** Path and query, as they came. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly idempotencyKey: string | undefined;
  readonly body: string;
}

/** How the service behaves to one request. */
export type StubMode =
  /** 201; a key that it knows changes nothing. */
  | { readonly type: 'apply' }
  /** Does it, then resets the connection instead of answering. */
  | { readonly type: 'apply-then-reset' }
  /** Does it, sends the head of a 200 and resets before the body is whole. */
  | { readonly type: 'apply-then-cut' }
  /** Does it, sends the head of a 200 and never the rest. */
  | { readonly type: 'apply-then-stall' }
  /** Answers with the status and does nothing. */
  | {
      readonly type: 'answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** Never answers. */
  | { readonly type: 'hang' }
  /** Does it, and answers 201 after so many ms. */
  | { readonly type: 'slow'; readonly ms: number }
  /** 409 for a key that it knows, else 201. */
  | { readonly type: 'conflict-on-repeat' };

export interface StubService {
  readonly url: string;
  /** All that came, in order. */
  readonly requests: readonly StubRequest[];
  /** The bodies that took effect, by idempotency key: each once, as a service does that knows its keys. */
  readonly effects: ReadonlyMap<string, string>;
  /** How many connections there were so far. */
  readonly connections: number;
  /** For the next requests, one each; when they are used up it applies. */
  next(...modes: readonly StubMode[]): void;
  /** For all requests, once those of `next` are used up. */
  always(mode: StubMode): void;
  close(): Promise<void>;
}

const APPLY: StubMode = { type: 'apply' };

/** A service on this machine that knows idempotency keys and misbehaves when it is told to. */
export async function startStubService(tls?: ServerOptions): Promise<StubService> {
  const requests: StubRequest[] = [];
  const effects = new Map<string, string>();
  const planned: StubMode[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let otherwise = APPLY;
  let connections = 0;

  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const key = request.headers['idempotency-key'];
    const idempotencyKey = typeof key === 'string' ? key : undefined;
    requests.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      idempotencyKey,
      body,
    });
    const isRepeat = effects.has(idempotencyKey ?? '');
    const apply = () => {
      if (!isRepeat) effects.set(idempotencyKey ?? '', body);
    };
    const mode = planned.shift() ?? otherwise;
    switch (mode.type) {
      case 'apply':
        apply();
        response.writeHead(201).end('{"ok":true}');
        return;
      case 'apply-then-reset':
        apply();
        request.socket.resetAndDestroy();
        return;
      case 'apply-then-cut':
        apply();
        response.writeHead(200, { 'content-length': '100' }).write('{"ok"', () => request.socket.resetAndDestroy());
        return;
      case 'apply-then-stall':
        apply();
        response.writeHead(200, { 'content-length': '100' }).write('{"ok"');
        return;
      case 'answer':
        response.writeHead(mode.status, mode.headers).end(mode.body ?? '');
        return;
      case 'hang':
        return;
      case 'slow': {
        apply();
        const timer = setTimeout(() => {
          timers.delete(timer);
          response.writeHead(201).end();
        }, mode.ms);
        timers.add(timer);
        return;
      }
      case 'conflict-on-repeat':
        apply();
        response.writeHead(isRepeat ? 409 : 201).end();
    }
  };
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    // A client that goes away while it sends has told us nothing to record.
    void receive(request, response).catch(() => request.socket.destroy());
  const server = tls ? createHttpsServer(tls, listener) : createHttpServer(listener);
  server.on(tls ? 'secureConnection' : 'connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    effects,
    get connections() {
      return connections;
    },
    next: (...modes) => void planned.push(...modes),
    always: (mode) => void (otherwise = mode),
    async close() {
      for (const timer of timers) clearTimeout(timer);
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
