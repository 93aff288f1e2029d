import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface CuttingProxy {
  readonly port: number;
  /** The next bytes with this text go to the target, and when it answers the client gets the end instead. */
  cutAfter(text: string): void;
  /** How many connections were cut. */
  readonly cuts: number;
  close(): Promise<void>;
}

/** Stands between a client and a server on this machine and cuts a connection at a chosen point. */
export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let cut: string | null = null;
  let cuts = 0;

  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    let deaf = false;
    for (const socket of [client, target]) {
      sockets.add(socket);
      // The end that matters is the other side's to see.
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (bytes) => {
      if (cut !== null && bytes.includes(cut)) {
        cut = null;
        deaf = true;
      }
      target.write(bytes);
    });
    target.on('data', (bytes) => {
      if (!deaf) return void client.write(bytes);
      // The target has answered, so it has done what was asked.
      if (!client.destroyed) cuts += 1;
      client.destroy();
      target.destroy();
    });
    client.on('close', () => target.destroy());
    target.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    cutAfter: (text) => void (cut = text),
    get cuts() {
      return cuts;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
