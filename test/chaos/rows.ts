import { inject, test, type TestContext } from 'vitest';

import { freePort } from '../../dev/broker/ports.ts';
import { startBroker, type OwnBroker } from '../../dev/broker.ts';
import { requireExposure, type Counts } from '../helpers/exposure.ts';
import { startKafkaProxy, type KafkaProxy } from '../helpers/kafka-proxy.ts';
import { createRandom, type Random } from '../helpers/random.ts';
import { provideRig, type Rig } from '../helpers/rig.ts';
import type { ScenarioOptions } from '../helpers/scenario.ts';

/** Fails the row where it did not go through so much of each. Every row has to say what it must have gone through. */
export type Exposed = (least: Counts) => void;

interface Row {
  /** The file's rows share it: it may be hurt, and each row mends it again. The tests' own clients reach it directly. */
  readonly broker: OwnBroker;
  /** The row's own. The product reaches the broker through it where its scenario is started `through` it. */
  readonly proxy: KafkaProxy;
  readonly rig: Rig;
  readonly random: Random;
  readonly exposed: Exposed;
  /** Where the proxy and the broker's listener behind it are. */
  readonly listener: { readonly port: number; readonly proxyPort: number };
}

/** `row('C3: …', async ({ rig, proxy, exposed }) => …)`: a test whose verdict counts only with proof of exposure. */
export const rowsWith = (properties: Readonly<Record<string, string>> = {}) =>
  test.extend<Row>({
    listener: [
      // eslint-disable-next-line no-empty-pattern -- this is how vitest learns that it needs no other fixture
      async ({}, use) => use({ port: await freePort(), proxyPort: await freePort() }),
      { scope: 'file' },
    ],
    broker: [
      async ({ listener: { port, proxyPort } }, use) => {
        const listener = { name: 'PROXIED', protocol: 'PLAINTEXT', port, advertisedPort: proxyPort } as const;
        const broker = await startBroker({ properties, listeners: [listener] });
        await use(broker);
        await broker.remove();
      },
      { scope: 'file' },
    ],
    proxy: async ({ listener: { port, proxyPort } }, use) => {
      const proxy = await startKafkaProxy(port, proxyPort);
      await use(proxy);
      await proxy.close();
    },
    rig: async ({ broker, task }, use) => provideRig(broker.bootstrapServers, task, use),
    random: async ({ task }, use) => use(createRandom(`${inject('seed')} ${task.name}`)),
    exposed: [
      async ({ proxy, rig, task }, use) => provideExposed(task, use, () => rig.expose(proxy.counts)),
      { auto: true },
    ],
  });

/** The `exposed` fixture: fails a row that does not use it. */
export async function provideExposed(
  task: TestContext['task'],
  use: (exposed: Exposed) => Promise<void>,
  note: () => void = () => undefined,
): Promise<void> {
  let isSaid = false;
  await use((least) => {
    isSaid = true;
    note();
    requireExposure(task.meta.exposure ?? {}, least);
  });
  if (!isSaid && task.result?.state !== 'fail') throw new Error('the row does not say what it was exposed to');
}

/** Lets the product reach the broker through the proxy only. */
export const through = ({ bootstrapServers }: KafkaProxy, options: ScenarioOptions = {}): ScenarioOptions => ({
  ...options,
  config: { ...options.config, kafka: { bootstrapServers } },
});
