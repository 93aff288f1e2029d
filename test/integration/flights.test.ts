import { expect, inject, it, onTestFinished } from 'vitest';

import { applyEffects } from '../../dev/demo/apply-effects.ts';
import { wrongEffects } from '../../dev/demo/effects-verdict.ts';
import { flightRecords } from '../../dev/demo/flights.ts';
import { keepBroker } from '../../dev/demo/kept-broker.ts';
import type { Kill, Witness } from '../../dev/demo/kills.ts';
import { routeFlights } from '../../dev/demo/route-flights.ts';
import { deleteTopics } from '../../dev/demo/topics.ts';

it('routes 20,000 flights exactly once although a worker and the supervisor are killed in open transactions, and applies the delayed ones although it is killed before their offsets', async () => {
  const kills: Kill[] = [];
  const ends: string[] = [];
  let committed = 0;
  let committedAtKill = 0;
  const witness: Witness = {
    started: () => undefined,
    killed(kill) {
      kills.push(kill);
      committedAtKill = committed;
    },
    ended: (victim, how) => void ends.push(`${victim}: ${how}`),
  };
  // The tests' own broker, which is others' as well: it is left alone, as one that the demo was given.
  const bootstrapServers = inject('bootstrapServers');
  const broker = keepBroker({ bootstrapServers, origin: 'the tests', remove: async () => undefined }, witness);
  onTestFinished(() => broker.remove());

  const { rows } = await routeFlights(broker, flightRecords(), {
    witness,
    committed: (records) => (committed = records),
  });

  expect(rows.filter(({ expected, seen }) => expected !== seen)).toEqual([]);
  expect(
    kills.filter(({ moment }) => moment === 'in an open transaction').map(({ victim, by }) => [victim, by]),
  ).toEqual([
    ['worker', 'the demo'],
    ['supervisor', 'the demo'],
  ]);

  expect(committedAtKill).toBeLessThan(20_000);

  expect(wrongEffects(await applyEffects(broker, witness))).toEqual([]);
  expect(ends).toEqual([]);
  await broker.withCluster(deleteTopics);
});
