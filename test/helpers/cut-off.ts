import { fetchStates } from '../../src/kafka/statistics.ts';

/** What a client that is watched has to be made with. */
export const REPORTING = { 'statistics.interval.ms': 1_000 } as const;

interface Reporting {
  on(event: 'event.stats', listener: (event: unknown) => void): unknown;
}

/** Reports in a row without a connected broker after which nothing is hoped for any more. */
const PATIENCE = 20;

/** Whether a client has found no broker for long: one that was once told of none never finds one again (librdkafka #5301). */
export function watchCutOff(client: Reporting): { readonly isCutOff: boolean } {
  let unconnected = 0;
  client.on('event.stats', (event: unknown) => {
    unconnected = fetchStates(event).connected ? 0 : unconnected + 1;
  });
  return {
    get isCutOff() {
      return unconnected >= PATIENCE;
    },
  };
}
