import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the range that systems take outgoing ports from (Linux: from 32768 on). */
const RANGE = [15_000, 30_000] as const;

/**
 * Two free ports that stay free while a broker is down: a client that keeps trying to connect to a port of the
 * outgoing range may be given that same port for its own end, meets itself there, and the broker can not come back.
 */
export async function freePorts(): Promise<[number, number]> {
  return [await freePort(), await freePort()];
}

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...RANGE);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    } finally {
      server.close();
    }
  }
}
