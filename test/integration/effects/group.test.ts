import { expect } from 'vitest';

import { events, startEffectScenario } from '../../helpers/effect-scenario.ts';
import { withPostgres } from '../../helpers/with-postgres.ts';

const it = withPostgres();

it('leaves no record out while partitions change hands', async ({ rig, postgres }) => {
  const database = await postgres.createDatabase();
  const run = await startEffectScenario(rig, { database, partitions: 4, effect: { concurrency: 2 } });
  const first = await run.startReady('a');
  const feed = run.seeder.feed(events(), 150);
  for (let round = 0; round < 2; round++) {
    const second = await run.startReady('b');
    const before = await run.rows();
    await second.until('rows to be written', async () => (await run.rows()) > before + 100, { timeoutMs: 60_000 });
    second.signal('SIGTERM');
    expect((await second.untilExit()).code).toBe(0);
  }
  await feed.stop();
  await run.judge();
  const metrics = await first.metrics();
  expect(metrics?.sum('millrace_rebalances_total', { event: 'assigned' })).toBeGreaterThan(1);
});

it('commits all that is confirmed before it stops, however its strands overtake each other', async ({
  rig,
  postgres,
}) => {
  const database = await postgres.createDatabase();
  const run = await startEffectScenario(rig, {
    database,
    partitions: 4,
    effect: { concurrency: 3 },
  });
  const feed = run.seeder.feed(events(), 400);
  for (let round = 0; round < 3; round++) {
    const before = await run.rows();
    const processor = await run.startReady(`a${round}`);
    await processor.until('rows to be written', async () => (await run.rows()) > before + 100, { timeoutMs: 60_000 });
    processor.signal('SIGTERM');
    expect((await processor.untilExit()).code).toBe(0);
    expect(await run.uncommittedRows()).toEqual([]);
  }
  await feed.stop();
  await run.startReady('last');
  await run.judge();
});
