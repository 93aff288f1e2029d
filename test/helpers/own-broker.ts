import { test } from 'vitest';

import { startBroker, type OwnBroker } from '../../dev/broker.ts';
import { provideRig, type Rig } from './rig.ts';

/** `it('…', async ({ rig, broker }) => …)` with a broker for the file alone, which may be hurt; each test mends it again. */
export const withOwnBroker = (properties: Readonly<Record<string, string>> = {}) =>
  withBroker(() => startBroker({ properties }));

/** The same with a broker of any kind. */
export const withBroker = <B extends OwnBroker>(start: () => Promise<B>) =>
  test.extend<{ broker: B; rig: Rig }>({
    broker: [
      // eslint-disable-next-line no-empty-pattern -- this is how vitest learns that it needs no other fixture
      async ({}, use) => {
        const broker = await start();
        await use(broker);
        await broker.remove();
      },
      { scope: 'file' },
    ],
    rig: async ({ broker, task }, use) => provideRig(broker.bootstrapServers, task, use),
  });
