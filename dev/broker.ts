/**
 * A real Kafka broker for tests, the demo and the benchmark.
 *
 * The order of choice: `KAFKA_BOOTSTRAP_SERVERS` where it is set, Kafka from Maven jars (`npm run setup` fetches them),
 * the `apache/kafka` image through Docker.
 */
import { createBrokerContainer } from './broker/container.ts';
import type { Broker, BrokerShape, Listener, OwnBroker } from './broker/contract.ts';
import { createJavaBroker } from './broker/java.ts';
import { freePorts } from './broker/ports.ts';
import { waitUntilReady } from './broker/ready.ts';
import { dockerAnswers } from './setup/docker.mjs';
import { findJars, findJava } from './setup/kafka.mjs';

export type { Broker, OwnBroker } from './broker/contract.ts';

export interface BrokerOptions {
  /** Broker properties on top of the defaults below. */
  properties?: Readonly<Record<string, string>>;
  /** Instead of a small heap and a quick start. */
  jvmOptions?: readonly string[];
  systemProperties?: Readonly<Record<string, string>>;
  /** Besides the one that `bootstrapServers` names. */
  listeners?: readonly Listener[];
}

/** One node, one partition for each internal topic, short waits: what makes tests quick. */
const defaultProperties: Readonly<Record<string, string>> = {
  'auto.create.topics.enable': 'false',
  'offsets.topic.num.partitions': '1',
  'offsets.topic.replication.factor': '1',
  'transaction.state.log.num.partitions': '1',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'share.coordinator.state.topic.replication.factor': '1',
  'share.coordinator.state.topic.min.isr': '1',
  'group.initial.rebalance.delay.ms': '0',
  'group.min.session.timeout.ms': '1000',
  'transaction.abort.timed.out.transaction.cleanup.interval.ms': '1000',
  // A broker that crashed may come back once its old registration has run out: 9 s by default.
  'broker.session.timeout.ms': '2000',
  'broker.heartbeat.interval.ms': '500',
  // 128 MB by default: a quarter of the small heap.
  'log.cleaner.dedupe.buffer.size': '4194304',
};

const quickJvm = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'];

/** The broker to work with when nobody will hurt it: the given one, or one of our own. */
export async function useBroker(options: BrokerOptions = {}): Promise<Broker> {
  const given = process.env['KAFKA_BOOTSTRAP_SERVERS'];
  if (!given) return startBroker(options);
  await waitUntilReady(given, { timeoutMs: 15_000 });
  return { bootstrapServers: given, origin: 'KAFKA_BOOTSTRAP_SERVERS', remove: async () => undefined };
}

/**
 * Starts a new broker on free ports, with temporary data of its own; resolves when it answers requests. It ends with
 * this process, however that ends.
 */
export async function startBroker(options: BrokerOptions = {}): Promise<OwnBroker> {
  const [port, controllerPort] = await freePorts();
  const broker = createBroker({ port, controllerPort, ...options });
  try {
    await broker.start();
  } catch (error) {
    await broker.remove();
    throw error;
  }
  return broker;
}

type Node = Pick<BrokerShape, 'port' | 'controllerPort' | 'isController'>;

/** A broker, or a controller, that is still to be started. */
export function createBroker({ port, controllerPort, isController, ...options }: Node & BrokerOptions): OwnBroker {
  const { listeners = [], systemProperties = {} } = options;
  const jvmOptions = [
    ...(options.jvmOptions ?? quickJvm),
    ...Object.entries(systemProperties).map(([name, value]) => `-D${name}=${value}`),
  ];
  const properties = { ...defaultProperties, ...options.properties };
  const shape = { port, controllerPort, isController, listeners, properties, jvmOptions };
  const java = findJava();
  const jars = findJars();
  if (java && jars) return createJavaBroker(shape, java, jars);
  if (dockerAnswers()) return createBrokerContainer(shape);
  throw new Error('no Kafka broker can be started here: `npm run setup` installs one, or says what is missing');
}
