import { test } from 'vitest';

import { startBroker, type OwnBroker } from '../../dev/broker.ts';
import { provideRig, type Rig } from './rig.ts';

/** `it('…', async ({ rig, broker }) => …)` with a broker that may be hurt: one for each test, or for all of a file. */
export const withOwnBroker = (properties: Readonly<Record<string, string>> = {}, scope: 'test' | 'file' = 'test') =>
  test.extend<{ broker: OwnBroker; rig: Rig }>({
    broker: [
      // eslint-disable-next-line no-empty-pattern -- this is how vitest learns that it needs no other fixture
      async ({}, use) => {
        const broker = await startBroker({ properties });
        await use(broker);
        await broker.remove();
      },
      { scope },
    ],
    rig: async ({ broker }, use) => provideRig(broker.bootstrapServers, use),
  });
