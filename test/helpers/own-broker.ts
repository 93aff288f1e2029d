import { startBroker, type OwnBroker } from '../../dev/broker.ts';
import { it } from './rig.ts';

/** `it('…', async ({ rig, broker }) => …)` with a broker that each test may hurt. */
export const withOwnBroker = (properties: Readonly<Record<string, string>> = {}) =>
  it.extend<{ broker: OwnBroker; bootstrapServers: string }>({
    // eslint-disable-next-line no-empty-pattern -- this is how vitest learns that it needs no other fixture
    broker: async ({}, use) => {
      const broker = await startBroker({ properties });
      await use(broker);
      await broker.remove();
    },
    bootstrapServers: async ({ broker }, use) => use(broker.bootstrapServers),
  });
