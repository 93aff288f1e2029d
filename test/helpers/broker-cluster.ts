import kafka from '@confluentinc/kafka-javascript';

import { createBroker, type OwnBroker } from '../../dev/broker.ts';
import { freePorts } from '../../dev/broker/ports.ts';
import { call } from './calls.ts';
import { partitionId } from '../../src/pipeline/ports.ts';
import { waitFor } from './wait.ts';

const BROKERS = 3;
const CONTROLLER_ID = 100;
const TIMEOUT_MS = 5_000;
/** For partitions to be led again, and replicas to catch up, after a broker came back. */
const IN_SYNC_MS = 60_000;

/** Every partition three times, of which two must have a record: one broker may go at any time. */
const replication = {
  'default.replication.factor': '3',
  'min.insync.replicas': '2',
  'offsets.topic.replication.factor': '3',
  'transaction.state.log.replication.factor': '3',
  'transaction.state.log.min.isr': '2',
};
const brokerJvm = ['-Xmx320m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'];
const controllerJvm = ['-Xmx192m', ...brokerJvm.slice(1)];

/** Three brokers that may be hurt one by one, and a controller apart from them that is left alone. */
export interface BrokerCluster {
  readonly bootstrapServers: string;
  readonly brokers: readonly OwnBroker[];
  /** The broker that leads the partition now. Of `__transaction_state` and `__consumer_offsets`: the coordinator. */
  leader(topic: string, partition: number): Promise<OwnBroker>;
  /** Waits until every partition has a leader and all its replicas are in sync. */
  untilInSync(): Promise<void>;
  remove(): Promise<void>;
}

export async function startBrokerCluster(properties: Readonly<Record<string, string>> = {}): Promise<BrokerCluster> {
  const [, controllerPort] = await freePorts();
  const common = {
    'controller.quorum.voters': `${CONTROLLER_ID}@127.0.0.1:${controllerPort}`,
    ...replication,
    ...properties,
  };
  const controller = createBroker({
    port: 0,
    controllerPort,
    isController: true,
    jvmOptions: controllerJvm,
    properties: {
      ...common,
      'node.id': String(CONTROLLER_ID),
      'process.roles': 'controller',
      listeners: `CONTROLLER://127.0.0.1:${controllerPort}`,
      'advertised.listeners': `CONTROLLER://127.0.0.1:${controllerPort}`,
    },
  });
  const brokers = await Promise.all(
    Array.from({ length: BROKERS }, async (_, index) => {
      const [port] = await freePorts();
      return createBroker({
        port,
        controllerPort,
        jvmOptions: brokerJvm,
        properties: {
          ...common,
          'node.id': String(index + 1),
          'process.roles': 'broker',
          listeners: `PLAINTEXT://127.0.0.1:${port}`,
        },
      });
    }),
  );
  const bootstrapServers = brokers.map((broker) => broker.bootstrapServers).join(',');
  const remove = async (): Promise<void> => {
    await Promise.all([controller, ...brokers].map((node) => node.remove()));
  };
  try {
    await Promise.all([controller, ...brokers].map((node) => node.start()));
  } catch (error) {
    await remove();
    throw error;
  }
  const client = new kafka.Producer({ 'bootstrap.servers': bootstrapServers, log_level: 0 });
  await call<unknown>((done) => client.connect({ timeout: TIMEOUT_MS }, done));
  const partitions = async () => {
    const options = { allTopics: true, timeout: TIMEOUT_MS };
    const metadata = await call<kafka.Metadata>((done) => void client.getMetadata(options, done));
    return metadata.topics.flatMap(({ name, partitions: of }) =>
      of.map((partition) => ({ topic: name, ...partition })),
    );
  };

  return {
    bootstrapServers,
    brokers,
    async leader(topic, partition) {
      return waitFor(`${topic}-${partition} to have a leader`, async () => {
        const found = (await partitions()).find((one) => one.topic === topic && one.id === partition);
        return brokers[(found?.leader ?? 0) - 1];
      });
    },
    async untilInSync() {
      let behind: string[] = [];
      const areInSync = async (): Promise<boolean> => {
        behind = (await partitions())
          .filter(({ leader, isrs }) => leader < 0 || isrs.length < BROKERS)
          .map(
            ({ topic, id, leader, isrs }) => `${partitionId({ topic, partition: id })}: ${leader} of ${isrs.join()}`,
          );
        return behind.length === 0;
      };
      await waitFor('all replicas to be in sync', areInSync, { timeoutMs: IN_SYNC_MS, seen: () => behind.join('\n') });
    },
    async remove() {
      await call<unknown>((done) => client.disconnect(done));
      await remove();
    },
  };
}
