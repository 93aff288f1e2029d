import { Connection } from './kafka-proxy/connection.ts';
import type { Slowness } from './kafka-proxy/line.ts';
import type { KafkaRequest, RequestFilter } from './kafka-proxy/request.ts';
import { startRelay, type Relay } from './relay.ts';
import { waitFor } from './wait.ts';

/** What became of connections, requests and replies, for the proof of exposure. */
export type ProxyCounts = Readonly<{
  connectionsReset: number;
  connectionsSwallowed: number;
  requestsHeld: number;
  repliesLost: number;
  repliesChanged: number;
}>;

/** A request that is kept back. */
export interface Held {
  /** Resolves when a request that matches has come. */
  caught(timeoutMs?: number): Promise<KafkaRequest>;
  readonly isCaught: boolean;
  /** Lets it go, and all that came behind it; resolves to the broker's reply, whether its sender still waits or not. */
  release(): Promise<Buffer>;
}

/**
 * Stands between Kafka clients and one broker, whose second listener tells them the proxy's port, and does to their
 * connections and messages what networks do. It knows a message by its API key.
 */
export interface KafkaProxy extends Relay {
  readonly bootstrapServers: string;
  readonly counts: ProxyCounts;
  /** Keeps back the next request that matches; what its connection sends behind it waits, too. */
  hold(filter: RequestFilter): Held;
  /** Counts the requests that match from now on. */
  watch(filter: RequestFilter): { readonly count: number };
  /** Of the next requests that match, so many, the broker gets the request, and the client no reply. */
  loseReplies(filter: RequestFilter, count?: number): void;
  /** Changes the replies to the next requests that match, so many; one that is returned as it was does not count. */
  changeReplies(filter: RequestFilter, change: (reply: Buffer, request: KafkaRequest) => Buffer, count?: number): void;
  /** Resets all connections; new ones are accepted. */
  reset(): void;
  /** Half-open: connections stay, new ones are accepted, and nothing arrives on either side. */
  swallow(): void;
  /** The same to the connections on which such a request comes. */
  cutOff(filter: RequestFilter): void;
  slow(slowness: Slowness): void;
  /** From now on everything passes. A connection of which something was swallowed is reset. */
  mend(): void;
}

interface Rule {
  readonly filter: RequestFilter;
  readonly apply: (request: KafkaRequest, connection: Connection) => void;
  uses: number;
}

export async function startKafkaProxy(targetPort: number, port: number): Promise<KafkaProxy> {
  const counts = {
    connectionsReset: 0,
    connectionsSwallowed: 0,
    requestsHeld: 0,
    repliesLost: 0,
    repliesChanged: 0,
  };
  const connections = new Set<Connection>();
  let rules: Rule[] = [];
  const watches: { readonly filter: RequestFilter; count: number }[] = [];
  let swallows = false;
  let slowness: Slowness | null = null;

  const relay = await startRelay(
    targetPort,
    (client, target) => {
      const connection = new Connection(client, target, {
        slowness: () => slowness,
        swallows: () => swallows,
        arrived(request) {
          for (const watch of watches) if (watch.filter(request)) watch.count++;
          const rule = rules.find(({ filter }) => filter(request));
          if (!rule) return;
          if (--rule.uses === 0) rules = rules.filter((other) => other !== rule);
          rule.apply(request, connection);
        },
      });
      connections.add(connection);
      client.on('close', () => connections.delete(connection));
    },
    port,
  );

  return {
    ...relay,
    bootstrapServers: `127.0.0.1:${relay.port}`,
    counts,
    hold(filter) {
      let caught: { request: KafkaRequest; connection: Connection } | undefined;
      rules.push({
        filter,
        uses: 1,
        apply(request, connection) {
          counts.requestsHeld++;
          connection.hold();
          caught = { request, connection };
        },
      });
      return {
        get isCaught() {
          return caught !== undefined;
        },
        caught: async (timeoutMs = 30_000) =>
          (await waitFor('a request to be held', () => caught, { timeoutMs, everyMs: 5 })).request,
        async release() {
          if (!caught) throw new Error('no request is held');
          return caught.connection.release(caught.request);
        },
      };
    },
    watch(filter) {
      const watch = { filter, count: 0 };
      watches.push(watch);
      return watch;
    },
    loseReplies(filter, count = 1) {
      const apply = (request: KafkaRequest, connection: Connection): void =>
        connection.onReply(request, () => {
          counts.repliesLost++;
          return null;
        });
      rules.push({ filter, uses: count, apply });
    },
    changeReplies(filter, change, count = Infinity) {
      const apply = (request: KafkaRequest, connection: Connection): void =>
        connection.onReply(request, (reply) => {
          const changed = change(reply, request);
          if (changed !== reply) counts.repliesChanged++;
          return changed;
        });
      rules.push({ filter, uses: count, apply });
    },
    reset() {
      for (const connection of connections) connection.reset();
      counts.connectionsReset += connections.size;
    },
    swallow: () => void (swallows = true),
    cutOff: (filter) => void rules.push({ filter, uses: Infinity, apply: (_, connection) => connection.cutOff() }),
    slow: (by) => void (slowness = by),
    mend() {
      rules = [];
      swallows = false;
      slowness = null;
      const deaf = [...connections].filter((connection) => connection.hasSwallowed);
      for (const connection of deaf) connection.reset();
      counts.connectionsSwallowed += deaf.length;
    },
  };
}
