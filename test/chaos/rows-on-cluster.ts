import { test } from 'vitest';

import { startBrokerCluster, type BrokerCluster } from '../helpers/broker-cluster.ts';
import { provideRig, type Rig } from '../helpers/rig.ts';
import { provideExposed, type Exposed } from './rows.ts';

interface Row {
  /** The file's rows share them: they may be hurt, and each row mends them again. */
  readonly brokers: BrokerCluster;
  readonly rig: Rig;
  readonly exposed: Exposed;
}

/** `row('B4: …', async ({ rig, brokers, exposed }) => …)`: a row on three brokers. */
export const rowsOnCluster = () =>
  test.extend<Row>({
    brokers: [
      // eslint-disable-next-line no-empty-pattern -- this is how vitest learns that it needs no other fixture
      async ({}, use) => {
        const cluster = await startBrokerCluster();
        await use(cluster);
        await cluster.remove();
      },
      { scope: 'file' },
    ],
    rig: async ({ brokers, task }, use) => provideRig(brokers.bootstrapServers, task, use),
    exposed: [async ({ task }, use) => provideExposed(task, use), { auto: true }],
  });
