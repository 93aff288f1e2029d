import { expect, inject, it, onTestFinished } from 'vitest';

import { flightRecords } from '../../dev/demo/flights.ts';
import type { Kill } from '../../dev/demo/process.ts';
import { routeFlights } from '../../dev/demo/route-flights.ts';
import { connectCluster } from '../helpers/cluster.ts';

it('routes 20,000 flights exactly once although it is killed in an open transaction', async () => {
  const bootstrapServers = inject('bootstrapServers');
  const cluster = await connectCluster(bootstrapServers);
  onTestFinished(() => cluster.close());

  const kills: Kill[] = [];
  const { rows } = await routeFlights(cluster, bootstrapServers, flightRecords(), {
    committed: () => undefined,
    killed: (kill) => kills.push(kill),
  });

  expect(rows.filter(({ expected, seen }) => expected !== seen)).toEqual([]);
  expect(kills.at(-1)).toMatchObject({ inTransaction: true });
  expect(kills.at(-1)?.committed).toBeLessThan(20_000);
});
