import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

import { onceGone } from '../guard.ts';
import { kafkaImage } from '../setup/kafka.mjs';
import type { BrokerShape, OwnBroker } from './contract.ts';
import { serverProperties } from './properties.ts';
import { waitUntilReady } from './ready.ts';

/** A broker in KRaft mode as a container of the public image. */
export function createBrokerContainer(shape: BrokerShape): OwnBroker {
  const bootstrapServers = `127.0.0.1:${shape.port}`;
  const name = `millrace-broker-${randomBytes(4).toString('hex')}`;
  const guard = onceGone(`docker rm --force --volumes ${name}`);
  let created = false;

  async function start() {
    if (created) await docker('start', name);
    else await docker('run', '--detach', '--name', name, ...published(shape), ...environment(shape), kafkaImage);
    created = true;
    await waitUntilReady(bootstrapServers, { check });
  }

  async function check() {
    if ((await docker('inspect', '--format', '{{.State.Running}}', name)).trim() === 'true') return;
    const log = await docker('logs', '--tail', '20', name);
    throw new Error(`the Kafka container ended while it started; the end of its log:\n${log}`);
  }

  async function command(...args: string[]) {
    await docker(...args);
  }

  return {
    bootstrapServers,
    origin: `${kafkaImage} through Docker`,
    start,
    stop: () => command('stop', '--timeout', '60', name),
    kill: () => command('kill', name),
    untilGone: () => command('wait', name),
    killCommand: () => `docker kill ${name}`,
    fillDisk: () => Promise.reject(new Error('only a Java process can be kept from writing: `npm run setup` gets one')),
    freeze: () => command('pause', name),
    thaw: () => command('unpause', name),
    remove: () => guard.release(),
  };
}

async function docker(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)('docker', args);
  return stdout + stderr;
}

function published({ port, listeners }: BrokerShape): string[] {
  const ports = [port, ...listeners.map((listener) => listener.port)];
  return ports.flatMap((each) => ['--publish', `127.0.0.1:${each}:${each}`]);
}

function environment(shape: BrokerShape): string[] {
  const properties = serverProperties(shape, { host: '', dataFolder: '/var/lib/kafka/data' });
  const variables = properties.map(([name, value]) => `${variableName(name)}=${value}`);
  return [`KAFKA_HEAP_OPTS=${shape.jvmOptions.join(' ')}`, ...variables].flatMap((variable) => ['--env', variable]);
}

/** The image's own convention for broker properties. */
function variableName(property: string): string {
  return `KAFKA_${property.toUpperCase().replaceAll('_', '__').replaceAll('-', '___').replaceAll('.', '_')}`;
}
