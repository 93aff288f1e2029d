import type { BrokerShape } from './contract.ts';

interface Place {
  /** The address to listen on; empty for all. */
  readonly host: string;
  readonly dataFolder: string;
}

/** The properties of a node that is broker and controller in one, for clients on this machine. */
export function serverProperties({ port, controllerPort, properties }: BrokerShape, { host, dataFolder }: Place) {
  return Object.entries({
    'node.id': '1',
    'process.roles': 'broker,controller',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://${host}:${port},CONTROLLER://${host}:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'log.dirs': dataFolder,
    ...properties,
  });
}
