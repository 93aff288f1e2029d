import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands between a client and a server on this machine, and can keep back a message at a chosen point. */
export interface Gate {
  readonly port: number;
  /**
   * Keeps back the next bytes of a client that have this text in them, or the server's answer to them, for good.
   * Resolves when it has something.
   *
   * @param letThrough How many such bytes pass before.
   */
  hold(what: 'request' | 'answer', text: string, letThrough?: number): Promise<void>;
  close(): Promise<void>;
}

export async function startGate(targetPort: number): Promise<Gate> {
  const sockets = new Set<Socket>();
  let armed: { what: 'request' | 'answer'; text: string; letThrough: number; caught: () => void } | null = null;

  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    let caught: (() => void) | null = null;
    let isShut = false;
    for (const socket of [client, target]) {
      sockets.add(socket);
      // Its end is passed on below; what caused it is the other side's to see.
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (bytes) => {
      if (isShut) return;
      if (armed && bytes.includes(armed.text) && armed.letThrough-- === 0) {
        const { what } = armed;
        ({ caught } = armed);
        armed = null;
        if (what === 'request') {
          isShut = true;
          caught();
          return;
        }
      }
      target.write(bytes);
    });
    target.on('data', (bytes) => {
      if (!caught) return void client.write(bytes);
      isShut = true;
      caught();
    });
    client.on('close', () => target.destroy());
    target.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    hold: (what, text, letThrough = 0) =>
      new Promise<void>((caught) => {
        armed = { what, text, letThrough, caught };
      }),
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
