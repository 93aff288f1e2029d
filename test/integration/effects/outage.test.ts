import { expect } from 'vitest';

import { events, startEffectScenario } from '../../helpers/effect-scenario.ts';
import { withPostgres } from '../../helpers/with-postgres.ts';
import { waitFor } from '../../helpers/wait.ts';

const it = withPostgres();

/** Long enough for every partition to be tried in vain as often as a record may fail. */
const DOWN_MS = Number(process.env['MILLRACE_OUTAGE_MS'] ?? 8_000);

const X2 = 'X2: waits for a database that is down, dead-letters nothing for it, says so, and goes on';
it(X2, { timeout: 120_000 + 3 * DOWN_MS }, async ({ rig, postgres }) => {
  const database = await postgres.createDatabase();
  const run = await startEffectScenario(rig, { database });
  const processor = await run.startReady('a');
  const feed = run.seeder.feed(events(), 100);
  await processor.until('rows to be written', async () => (await run.rows()) > 50);
  await postgres.kill();
  const downUntil = Date.now() + DOWN_MS;
  await processor.until('readiness to turn false and say why', async () => {
    const readiness = await processor.readiness();
    return readiness?.status === 503 && /is held at offset \d+: .*database/.test(readiness.body);
  });
  await processor.until('the partitions to count as held', async () => {
    return ((await processor.metrics())?.sum('millrace_held_partitions') ?? 0) > 0;
  });
  await processor.until('the outage to have lasted', () => Date.now() > downUntil, { timeoutMs: 2 * DOWN_MS });
  await postgres.start();
  await processor.untilReady();
  await feed.stop();
  await run.judge();
  expect((await processor.metrics())?.sum('millrace_held_partitions')).toBe(0);
});

it('starts before its database does', async ({ rig, postgres }) => {
  const database = await postgres.createDatabase();
  const run = await startEffectScenario(rig, { database });
  await run.seeder.send(Array.from({ length: 50 }, events()));
  await postgres.stop();
  const processor = await run.start('a');
  await processor.until('readiness to say that it waits for its target', async () =>
    /waits for its target/.test((await processor.readiness())?.body ?? ''),
  );
  await postgres.start();
  await processor.untilReady();
  await run.judge();
});

it('ends at once on SIGTERM while it waits for its database', async ({ rig, postgres }) => {
  const database = await postgres.createDatabase();
  const run = await startEffectScenario(rig, { database });
  await postgres.stop();
  const processor = await run.start('a');
  await processor.until('readiness to say that it waits for its target', async () =>
    /waits for its target/.test((await processor.readiness())?.body ?? ''),
  );
  processor.signal('SIGTERM');
  expect(await processor.untilExit({ timeoutMs: 10_000 })).toEqual({ code: 0, signal: null });
});

it('commits what is confirmed and leaves with code 0 on SIGTERM under load', async ({ rig, postgres }) => {
  const database = await postgres.createDatabase();
  const run = await startEffectScenario(rig, { database });
  const feed = run.seeder.feed(events(), 150);
  for (let round = 0; round < 3; round++) {
    const processor = await run.startReady('a');
    const before = await run.rows();
    await processor.until('rows to be written', async () => (await run.rows()) > before);
    processor.signal('SIGTERM');
    expect(await processor.untilExit()).toEqual({ code: 0, signal: null });
  }
  await feed.stop();
  const last = await run.startReady('a');
  await run.judge();
  // Events that come twice are repeats by themselves; nothing else is, for nothing was left uncommitted.
  const repeats = (await last.metrics())?.sum('millrace_effects_total', { outcome: 'repeat' }) ?? 0;
  const applied = (await last.metrics())?.sum('millrace_effects_total', { outcome: 'applied' }) ?? 0;
  expect(repeats).toBeLessThanOrEqual(applied / 10 + 5);
});

it('X4: two instances, one of which stood still and wakes up, have one effect for each event', async ({
  rig,
  postgres,
}) => {
  const database = await postgres.createDatabase();
  const run = await startEffectScenario(rig, { database, effect: { concurrency: 3 } });
  const zombie = await run.startReady('zombie');
  const feed = run.seeder.feed(events(), 150);
  await zombie.until('rows to be written', async () => (await run.rows()) > 50);
  zombie.stop();
  const other = await run.start('b');
  const before = await run.rows();
  await waitFor('the other to take over', async () => (await run.rows()) > before + 50, { timeoutMs: 60_000 });
  zombie.cont();
  await zombie.untilReady({ timeoutMs: 60_000 });
  await feed.stop();
  await run.judge();
  expect(other.exit).toBeNull();
});
