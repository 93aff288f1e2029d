import type { BrokerShape } from './contract.ts';

interface Place {
  /** The address to listen on; empty for all. */
  readonly host: string;
  readonly dataFolder: string;
}

/** The properties of a node that is broker and controller in one, for clients on this machine. */
export function serverProperties(shape: BrokerShape, { host, dataFolder }: Place) {
  const { port, controllerPort, proxied, properties } = shape;
  const listeners = [`PLAINTEXT://${host}:${port}`, `CONTROLLER://${host}:${controllerPort}`];
  const advertised = [`PLAINTEXT://127.0.0.1:${port}`];
  if (proxied) {
    listeners.push(`PROXIED://${host}:${proxied.port}`);
    advertised.push(`PROXIED://127.0.0.1:${proxied.proxyPort}`);
  }
  return Object.entries({
    'node.id': '1',
    'process.roles': 'broker,controller',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: listeners.join(','),
    'advertised.listeners': advertised.join(','),
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT',
    'log.dirs': dataFolder,
    ...properties,
  });
}
