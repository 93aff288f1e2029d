import { expect, inject, it, onTestFinished } from 'vitest';

import { applyEffects } from '../../dev/demo/apply-effects.ts';
import { wrongEffects } from '../../dev/demo/effects-verdict.ts';
import { flightRecords } from '../../dev/demo/flights.ts';
import type { Kill } from '../../dev/demo/process.ts';
import { routeFlights } from '../../dev/demo/route-flights.ts';
import { deleteTopics } from '../../dev/demo/topics.ts';
import { connectCluster } from '../helpers/cluster.ts';

it('routes 20,000 flights exactly once although a worker and the supervisor are killed in open transactions, and applies the delayed ones although it is killed before their offsets', async () => {
  const bootstrapServers = inject('bootstrapServers');
  const cluster = await connectCluster(bootstrapServers);
  onTestFinished(() => cluster.close());

  const kills: Kill[] = [];
  const { rows } = await routeFlights(cluster, bootstrapServers, flightRecords(), {
    committed: () => undefined,
    killed: (kill) => kills.push(kill),
  });

  expect(rows.filter(({ expected, seen }) => expected !== seen)).toEqual([]);
  expect(kills.filter(({ inTransaction }) => inTransaction).map(({ victim }) => victim)).toEqual([
    'worker',
    'supervisor',
  ]);
  expect(kills.at(-1)?.committed).toBeLessThan(20_000);

  expect(wrongEffects(await applyEffects(cluster, bootstrapServers, () => undefined))).toEqual([]);
  await deleteTopics(cluster);
});
