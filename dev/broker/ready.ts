import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import kafka from '@confluentinc/kafka-javascript';

interface Patience {
  timeoutMs?: number;
  /** Throws when waiting is of no use any more. */
  check?: () => void | Promise<void>;
}

/** Resolves when a broker answers a metadata request. */
export async function waitUntilReady(bootstrapServers: string, patience: Patience = {}) {
  // The client is kept away from ports on which nobody listens: it would log each refused connection.
  const isReady = async () => (await accepts(bootstrapServers)) && (await answers(bootstrapServers));
  await waitFor(isReady, bootstrapServers, patience);
}

/** Resolves when something listens there: all that can be asked of a node that only leads a cluster. */
export async function waitUntilListening(address: string, patience: Patience = {}) {
  await waitFor(() => accepts(address), address, patience);
}

async function waitFor(isReady: () => Promise<boolean>, address: string, { timeoutMs = 60_000, check }: Patience) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    await check?.();
    if (await isReady()) return;
    if (Date.now() > deadline) throw new Error(`no Kafka broker answers at ${address}`);
    await delay(100);
  }
}

async function accepts(bootstrapServers: string): Promise<boolean> {
  const [, host, port] = /^(?:\w+:\/\/)?\[?([^,]+?)\]?:(\d+)(?:,|$)/.exec(bootstrapServers) ?? [];
  if (!host || !port) throw new Error(`KAFKA_BOOTSTRAP_SERVERS is not host:port but '${bootstrapServers}'`);
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), timeout: 2_000 });
    const settle = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('timeout', () => settle(false));
  });
}

async function answers(bootstrapServers: string): Promise<boolean> {
  const admin = kafka.AdminClient.create({ 'bootstrap.servers': bootstrapServers, log_level: 0 });
  try {
    return await new Promise((resolve) => admin.listTopics({ timeout: 2_000 }, (error) => resolve(!error)));
  } finally {
    admin.disconnect();
  }
}
