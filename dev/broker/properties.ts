import type { BrokerShape, Listener } from './contract.ts';

interface Place {
  /** The address to listen on; empty for all. */
  readonly host: string;
  readonly dataFolder: string;
}

/** The properties of a node that is broker and controller in one, for clients on this machine. */
export function serverProperties(shape: BrokerShape, { host, dataFolder }: Place) {
  const { port, controllerPort, properties } = shape;
  const open: readonly Listener[] = [{ name: 'PLAINTEXT', protocol: 'PLAINTEXT', port }, ...shape.listeners];
  const all = [...open, { name: 'CONTROLLER', protocol: 'PLAINTEXT', port: controllerPort }];
  return Object.entries({
    'node.id': '1',
    'process.roles': 'broker,controller',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: all.map((each) => `${each.name}://${host}:${each.port}`).join(','),
    'advertised.listeners': open
      .map((each) => `${each.name}://127.0.0.1:${each.advertisedPort ?? each.port}`)
      .join(','),
    'listener.security.protocol.map': all.map(({ name, protocol }) => `${name}:${protocol}`).join(','),
    'log.dirs': dataFolder,
    ...properties,
  });
}
