import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands between clients and a server on this machine. */
export interface Relay {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * @param join Passes bytes on between the two ends of each new connection, and the end of one on to the other.
 * @param port Where to listen; a free port where it is 0.
 */
export async function startRelay(
  targetPort: number,
  join: (client: Socket, target: Socket) => void,
  port = 0,
): Promise<Relay> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    for (const socket of [client, target]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      // What caused the end of one is the other side's to see.
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    join(client, target);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');

  return {
    port: address.port,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** When one end of a connection is gone, so is the other. */
export function endTogether(client: Socket, target: Socket): void {
  client.on('close', () => target.destroy());
  target.on('close', () => client.destroy());
}
