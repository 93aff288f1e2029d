import { endTogether, startRelay, type Relay } from './relay.ts';

/** Stands between a client and a server on this machine, and can keep back a message at a chosen point. */
export interface Gate extends Relay {
  /**
   * Keeps back the next bytes of a client that have this text in them, or the server's answer to them, for good.
   * Resolves when it has something.
   *
   * @param letThrough How many such bytes pass before.
   */
  hold(what: 'request' | 'answer', text: string, letThrough?: number): Promise<void>;
}

export async function startGate(targetPort: number): Promise<Gate> {
  let armed: { what: 'request' | 'answer'; text: string; letThrough: number; caught: () => void } | null = null;

  const relay = await startRelay(targetPort, (client, target) => {
    let caught: (() => void) | null = null;
    let isShut = false;
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
    endTogether(client, target);
  });

  return {
    ...relay,
    hold: (what, text, letThrough = 0) =>
      new Promise<void>((caught) => {
        armed = { what, text, letThrough, caught };
      }),
  };
}
