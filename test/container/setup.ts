import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { KafkaContainer } from '@testcontainers/kafka';
import { Network, Wait, type StartedNetwork } from 'testcontainers';
import type { TestProject } from 'vitest/node';

import { onceGone } from '../../dev/guard.ts';
import { KAFKA_IMAGE } from '../../dev/setup/docker.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** The image under test. */
    image: string;
    /** The Docker network that has the broker in it, */
    network: string;
    /** and the broker's address there. `bootstrapServers` is the one for this machine. */
    networkServers: string;
  }
}

const IMAGE = 'millrace:under-test';
export const VERSION = '0.0.0-test';
/** In the network, and for this machine. */
const KAFKA_NAME = 'kafka';
const KAFKA_PORT = 9093;
const BUILD_TIMEOUT_MS = 15 * 60_000;
/** A machine that has just built an image may be slow to start a JVM; Testcontainers waits for 60 s. */
const KAFKA_START_MS = 180_000;
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the image from the working tree, and starts a broker that both it and the tests reach. */
export default async function setup(project: TestProject) {
  buildImage();
  // What Testcontainers would start to clean up needs another image; the guard does it, also after a SIGKILL.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
  const network = await new Network().start();
  const inIt = `docker ps --all --quiet --filter network=${network.getId()}`;
  const guard = onceGone(`docker rm --force --volumes $(${inIt}); docker network rm ${network.getId()}`);
  try {
    const kafka = await startKafka(network);
    project.provide('bootstrapServers', `${kafka.getHost()}:${kafka.getMappedPort(KAFKA_PORT)}`);
  } catch (error) {
    await guard.release();
    throw error;
  }
  project.provide('image', IMAGE);
  project.provide('network', network.getName());
  project.provide('networkServers', `${KAFKA_NAME}:9092`);
  return () => guard.release();
}

function startKafka(network: StartedNetwork) {
  return new KafkaContainer(KAFKA_IMAGE)
    .withNetwork(network)
    .withNetworkAliases(KAFKA_NAME)
    .withWaitStrategy(Wait.forListeningPorts().withStartupTimeout(KAFKA_START_MS))
    .withEnvironment({
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_TRANSACTION_STATE_LOG_NUM_PARTITIONS: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_ABORT_TIMED_OUT_TRANSACTION_CLEANUP_INTERVAL_MS: '1000',
      KAFKA_HEAP_OPTS: '-Xmx512m',
    })
    .start();
}

function buildImage() {
  const args = ['build', '--tag', IMAGE, '--build-arg', `VERSION=${VERSION}`, root];
  const { status, error, stdout, stderr } = spawnSync('docker', args, { encoding: 'utf8', timeout: BUILD_TIMEOUT_MS });
  if (status !== 0) throw new Error(`docker ${args.join(' ')} failed: ${error?.message ?? ''}\n${stdout}${stderr}`);
}
