import { expect } from 'vitest';

import { events, startEffectScenario } from '../../helpers/effect-scenario.ts';
import { startGate } from '../../helpers/gate.ts';
import { withPostgres } from '../../helpers/with-postgres.ts';

/** How often each point is killed at: few, to be quick, unless more is asked for. */
const ROUNDS = Number(process.env['MILLRACE_KILL_ROUNDS'] ?? 2);
const PER_SECOND = 150;
const COMMIT_INTERVAL_MS = 100;

const it = withPostgres();

it.for([
  ['before the database commits', 'request'],
  ['X1: after the database has committed and before the offsets are', 'answer'],
] as const)('is killed %s', { timeout: 600_000 }, async ([, what], { rig, postgres }) => {
  const database = await postgres.createDatabase();
  const gate = await startGate(postgres.port);
  rig.onEnd(() => gate.close());
  const transaction = { commitInterval: `${COMMIT_INTERVAL_MS}ms`, timeout: '10s' };
  const run = await startEffectScenario(rig, { database, throughPort: gate.port, effect: { transaction } });
  let processor = await run.startReady('a');
  const feed = run.seeder.feed(events(), PER_SECOND);

  for (let round = 0; round < ROUNDS; round++) {
    await processor.until('rows to be written', async () => (await run.rows()) > 0);
    const caught = gate.hold(what, 'COMMIT');
    let isCaught = false;
    void caught.then(() => (isCaught = true));
    await processor.until('the commit to be held back', () => isCaught, { everyMs: 5 });
    // Offsets that did not wait for the target would be committed by then.
    const killAt = Date.now() + 5 * COMMIT_INTERVAL_MS;
    await processor.until('some commits to be due', () => Date.now() > killAt);
    await processor.kill();
    processor = await run.start('a');
  }
  await feed.stop();
  await run.judge();
  const metrics = await processor.metrics();
  if (what === 'answer') {
    // The last process alone: it found what its predecessor had applied and not committed.
    expect(metrics?.sum('millrace_effects_total', { outcome: 'repeat' })).toBeGreaterThan(0);
  }
});

it(
  'is killed after the target has confirmed, before the offsets are sent',
  { timeout: 600_000 },
  async ({ rig, postgres }) => {
    const database = await postgres.createDatabase();
    // So long that a kill lands between the database's commit and the offsets.
    const transaction = { commitInterval: '2s', timeout: '10s' };
    const run = await startEffectScenario(rig, { database, effect: { transaction } });
    const feed = run.seeder.feed(events(), PER_SECOND);
    for (let round = 0; round < ROUNDS; round++) {
      const processor = await run.startReady('a');
      const before = await run.rows();
      await processor.until('rows to be written', async () => (await run.rows()) > before, { everyMs: 5 });
      await processor.kill();
    }
    await run.startReady('a');
    await feed.stop();
    await run.judge();
  },
);

it('is killed after the offsets are sent, before the commit', { timeout: 600_000 }, async ({ rig, postgres }) => {
  const database = await postgres.createDatabase();
  const run = await startEffectScenario(rig, { database });
  const feed = run.seeder.feed(events(), PER_SECOND);
  for (let killed = 0; killed < ROUNDS;) {
    const processor = await run.startReady('a');
    await processor.until('an open transaction', () => run.hasOpenTransaction(), { everyMs: 2 });
    await processor.kill();
    if (await run.hasOpenTransaction()) killed++;
  }
  await run.startReady('a');
  await feed.stop();
  await run.judge();
});
