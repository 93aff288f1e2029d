import { endTogether, startRelay, type Relay } from './relay.ts';

/** Stands between a client and a server on this machine and cuts a connection at a chosen point. */
export interface CuttingProxy extends Relay {
  /** The next bytes with this text go to the target, and when it answers the client gets the end instead. */
  cutAfter(text: string): void;
  /** How many connections were cut. */
  readonly cuts: number;
}

export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  let cut: string | null = null;
  let cuts = 0;

  const relay = await startRelay(targetPort, (client, target) => {
    let deaf = false;
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
    endTogether(client, target);
  });

  return {
    ...relay,
    cutAfter: (text) => void (cut = text),
    get cuts() {
      return cuts;
    },
  };
}
