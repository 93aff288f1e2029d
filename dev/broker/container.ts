import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

import type { BrokerShape, OwnBroker } from './contract.ts';
import { onceGone } from '../guard.ts';
import { waitUntilReady } from './ready.ts';

const IMAGE = 'apache/kafka:4.1.0';

/** A broker in KRaft mode as a container of the public image. */
export function createBrokerContainer(shape: BrokerShape): OwnBroker {
  const bootstrapServers = `127.0.0.1:${shape.port}`;
  const name = `millrace-broker-${randomBytes(4).toString('hex')}`;
  const guard = onceGone(`docker rm --force --volumes ${name}`);
  let created = false;

  async function start() {
    if (created) await docker('start', name);
    else await docker('run', '--detach', '--name', name, ...published(shape), ...environment(shape), IMAGE);
    created = true;
    await waitUntilReady(bootstrapServers);
  }

  return {
    bootstrapServers,
    origin: `${IMAGE} through Docker`,
    start,
    stop: () => docker('stop', '--timeout', '60', name),
    kill: () => docker('kill', name),
    freeze: () => docker('pause', name),
    thaw: () => docker('unpause', name),
    remove: () => guard.release(),
  };
}

async function docker(...args: string[]): Promise<void> {
  await promisify(execFile)('docker', args);
}

function published({ port }: BrokerShape): string[] {
  return ['--publish', `127.0.0.1:${port}:${port}`];
}

function environment({ port, controllerPort, properties, jvmOptions }: BrokerShape): string[] {
  const all = {
    'node.id': '1',
    'process.roles': 'broker,controller',
    'controller.quorum.voters': `1@localhost:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://:${port},CONTROLLER://:${controllerPort}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'log.dirs': '/var/lib/kafka/data',
    ...properties,
  };
  const variables = Object.entries(all).map(([property, value]) => `${variableName(property)}=${value}`);
  return [`KAFKA_HEAP_OPTS=${jvmOptions.join(' ')}`, ...variables].flatMap((variable) => ['--env', variable]);
}

/** The image's own convention for broker properties. */
function variableName(property: string): string {
  return `KAFKA_${property.toUpperCase().replaceAll('_', '__').replaceAll('-', '___').replaceAll('.', '_')}`;
}
