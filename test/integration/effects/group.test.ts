import { expect } from 'vitest';

import { events, startEffectScenario } from '../../helpers/effect-scenario.ts';
import { withPostgres } from '../../helpers/with-postgres.ts';

const it = withPostgres();

it('commits what is confirmed before partitions change hands, and leaves no record out', async ({ rig, postgres }) => {
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
  // Events that come twice are repeats by themselves; nothing else is, for nothing confirmed was left uncommitted.
  const count = (outcome: string) => metrics?.sum('millrace_effects_total', { outcome }) ?? 0;
  expect(count('repeat')).toBeLessThanOrEqual(count('applied') / 10 + 5);
});
