import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

import { expect } from 'vitest';

import type { Processor } from '../helpers/processor.ts';
import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { TRANSFORM, workload } from '../helpers/workload.ts';
import { docker } from './docker.ts';
import { containerOf, inNetwork, it } from './ground.ts';

const GRACE_MS = 5_000;
/** For Docker, and for a busy machine. */
const MARGIN_MS = 3_000;
/** Processors that are to be caught in an open transaction. */
const LONG_TRANSACTIONS = { transaction: { commitInterval: '1s', timeout: '2m' } };

it('runs a TypeScript transform and a package of the mounted folder exactly once, through docker kill in an open transaction', async ({
  rig,
}) => {
  const transform = `import { sides } from 'sides';\n${TRANSFORM.replaceAll(`to: 'left'`, 'to: sides.left')}`;
  expect(transform).toMatch(/import .* from 'millrace';[^]*sides\.left/);
  await mkdir(join(rig.folder, 'node_modules', 'sides'));
  await rig.write('node_modules/sides/package.json', '{ "name": "sides", "type": "module", "exports": "./sides.js" }');
  await rig.write('node_modules/sides/sides.js', `export const sides = { left: 'left' };`);

  const run = await startScenario(rig, { config: inNetwork(), transform, pipeline: LONG_TRANSACTIONS });
  const containers = new Map<string, Processor>();
  for (const instance of ['a', 'b']) containers.set(instance, await run.startReady(instance));
  const feed = run.seeder.feed(workload(), 300);
  await run.untilCommitted(300);
  for (let round = 0, hits = 0; hits < 2; round++) {
    expect(round, 'kills that missed the transaction').toBeLessThan(10);
    const instance = ['a', 'b'][round % 2]!;
    if (await run.killInTransaction(instance, containers.get(instance)!)) hits++;
    containers.set(instance, await run.startReady(instance));
  }
  await feed.stop();

  const { exposure } = await run.judge();
  expect(exposure.killsInTransaction).toBe(2);
  expect(exposure.abortedRecords).toBeGreaterThan(0);
});

it('J2: ends by docker stop within the grace, with exit code 0 and nothing left open', async ({ rig }) => {
  const run = await startScenario(rig, {
    config: { ...inNetwork(), shutdown: { grace: `${GRACE_MS}ms` } },
    pipeline: LONG_TRANSACTIONS,
  });
  await run.startReady('steady');
  const feed = run.seeder.feed(workload(), 300);
  for (let round = 0; round < 2; round++) {
    const stopped = await run.startReady('stopped');
    await stopped.until('an open transaction', () => run.hasOpenTransaction('stopped'), { everyMs: 5 });
    const startedAt = performance.now();
    await docker('stop', '--time', '60', await containerOf(rig, 'stopped'));
    expect(performance.now() - startedAt).toBeLessThan(GRACE_MS + MARGIN_MS);
    expect(await stopped.untilExit()).toEqual({ code: 0, signal: null });
    expect(await run.hasOpenTransaction('stopped'), 'a transaction left to time out').toBe(false);
  }
  await feed.stop();
  await run.judge();
});

it('is healthy on the port of its configuration, and unhealthy while it does not answer', async ({ rig }) => {
  const run = await startScenario(rig, { config: inNetwork() });
  const processor = await run.startReady('a');
  const container = await containerOf(rig, 'a');
  const untilHealth = (wanted: string) =>
    waitFor(
      `the container to be ${wanted}`,
      async () => (await docker('inspect', '--format', '{{.State.Health.Status}}', container)) === wanted,
      { everyMs: 200, seen: () => processor.lastWords() },
    );
  await untilHealth('healthy');
  // All but process 1 and the shell that asks for it. What the health check starts later runs.
  await docker('exec', container, 'sh', '-c', 'kill -STOP -1');
  await untilHealth('unhealthy');
  await docker('exec', container, 'sh', '-c', 'kill -CONT -1');
  await untilHealth('healthy');
});

it('runs without root, without capabilities and without a file system that it could write to', async ({ rig }) => {
  const run = await startScenario(rig, { config: inNetwork() });
  await run.startReady('a');
  const container = await containerOf(rig, 'a');
  const status = await docker('exec', container, 'cat', '/proc/1/status');
  expect(status).toMatch(/^Uid:\s+1000\s+1000\s+1000\s+1000$/m);
  expect(status).toMatch(/^Gid:\s+1000\s+1000\s+1000\s+1000$/m);
  for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) expect(status).toMatch(new RegExp(`^Cap${set}:\\s+0+$`, 'm'));
  await expect(docker('exec', container, 'touch', '/tmp/file')).rejects.toThrow(/Read-only file system/);
});
