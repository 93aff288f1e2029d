import { inject } from 'vitest';

import { createRandom } from '../helpers/random.ts';
import { startScenario } from '../helpers/scenario.ts';
import { passed } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import { drawFaults, GRACE_MS, strike, type World } from './random/faults.ts';
import { Fleet } from './random/fleet.ts';
import { rowsWith, through } from './rows.ts';

const row = rowsWith();

const SLOT_MS = 30_000;
const PROCESSES = 3;
/** How long after the last fault the group may take to do what has piled up. */
const HEALED_MS = 120_000;

const { runs, forMs } = inject('random');
const slots = Math.max(1, Math.round(forMs / SLOT_MS));
const timeout = slots * 2 * SLOT_MS + 2 * HEALED_MS;

for (let number = 1; number <= runs; number++) {
  row(`R${number}: faults at random`, { timeout }, async ({ rig, broker, proxy, exposed }) => {
    const config = { shutdown: { grace: `${GRACE_MS}ms` } };
    const run = await startScenario(rig, through(proxy, { partitions: 6, config }));
    const fleet = new Fleet(run);
    const world: World = { run, fleet, broker, proxy };
    for (let count = 0; count < PROCESSES; count++) await fleet.add();
    const feed = run.seeder.feed(workload(), 200);
    await run.untilCommitted(500);

    const struck: Record<string, number> = {};
    for (let slot = 1; slot <= slots; slot++) {
      const choices = createRandom(`${inject('seed')}/${number}/${slot}`);
      const faults = drawFaults(choices);
      console.error(`R${number}, ${slot} of ${slots}: ${faults.join(', ')}`);
      for (const fault of faults) struck[fault] = (struck[fault] ?? 0) + 1;
      await Promise.all([
        passed(SLOT_MS),
        // Streams of their own: what one of them draws does not depend on what the others do meanwhile.
        ...faults.map((fault) => strike(fault, world, createRandom(`${inject('seed')}/${number}/${slot}/${fault}`))),
      ]);
      await fleet.revive();
    }
    const recalled = await fleet.recall();
    await run.untilCaughtUp(HEALED_MS);
    await feed.stop();
    await run.judge();
    await fleet.untilReady();

    rig.expose({ ...struck, exits: fleet.exits, recalled, slots });
    exposed({ slots, transactions: 10 * slots, ...struck });
  });
}
