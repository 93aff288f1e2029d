import { expect } from 'vitest';

import type { Processor } from '../helpers/processor.ts';
import type { Rig } from '../helpers/rig.ts';
import { startScenario } from '../helpers/scenario.ts';
import { TRANSFORM, workload } from '../helpers/workload.ts';
import { rowsWith } from './rows.ts';

const row = rowsWith();

/** The workload's transform with something before it, which is done for the record with that id; `once`: by the first process only. */
const doing = (what: string, { id, once }: { id: number; once: boolean }): string => {
  const isTime = `id === ${id}${once ? " && !existsSync('./done')" : ''}`;
  const started = `=> {\n  if (${isTime}) {\n    writeFileSync('./done', '');\n    ${what}\n  }`;
  return `import { existsSync, writeFileSync } from 'node:fs';\n${TRANSFORM.replace('=> {', started)}`;
};

const restarts = async (processor: Processor): Promise<number> =>
  (await processor.metrics())?.sum('millrace_worker_restarts_total', { reason: 'crash' }) ?? 0;

const FILLS_THE_HEAP = 'for (const kept: object[] = []; ; ) kept.push(new Array(1_000).fill(kept.length));';
const HEAP_MB = 128;

/** For all processes that the row starts. */
function limitHeap(rig: Rig): void {
  const before = process.env['NODE_OPTIONS'];
  process.env['NODE_OPTIONS'] = `${before ?? ''} --max-old-space-size=${HEAP_MB}`;
  rig.onEnd(() => {
    if (before === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = before;
  });
}

row(
  'A9: ends with an exit code other than 0 when it runs out of memory, and loses nothing',
  async ({ rig, exposed }) => {
    limitHeap(rig);
    const run = await startScenario(rig, { transform: doing(FILLS_THE_HEAP, { id: 500, once: true }) });
    const first = await run.startReady('a');
    const feed = run.seeder.feed(workload(), 200);
    // V8 gives up by abort(): 134 to a shell.
    expect(await first.untilExit({ timeoutMs: 60_000 })).toEqual({ code: null, signal: 'SIGABRT' });
    expect(first.log.join('\n')).toContain('heap out of memory');
    await run.startReady('a');
    await run.untilCaughtUp();
    await feed.stop();
    await run.judge();
    rig.expose({ outOfMemory: 1 });
    exposed({ outOfMemory: 1, sources: 600, rebalances: 2 });
  },
);

row('A9: starts a worker that ran out of memory again, and loses nothing', async ({ rig, exposed }) => {
  limitHeap(rig);
  const transform = doing(FILLS_THE_HEAP, { id: 500, once: true });
  const run = await startScenario(rig, { transform, pipeline: { workers: 2 } });
  const processor = await run.startReady('a');
  const feed = run.seeder.feed(workload(), 200);
  await processor.until('the worker to be started again', async () => (await restarts(processor)) === 1, {
    timeoutMs: 60_000,
  });
  expect(processor.log.join('\n')).toMatch(
    /was ended by SIGABRT: FATAL ERROR: [^"\\]*heap out of memory; it is started/,
  );
  await processor.untilReady();
  await run.untilCaughtUp();
  await feed.stop();
  await run.judge();
  expect(processor.exit).toBeNull();
  rig.expose({ outOfMemory: await restarts(processor) });
  exposed({ outOfMemory: 1, sources: 600, rebalances: 3 });
});

const CRASHES = 50;

row(
  'A10: leaves no more transactional ids on the broker after 50 crashes in a row than before',
  { timeout: 600_000 },
  async ({ rig, exposed }) => {
    const run = await startScenario(rig);
    const feed = run.seeder.feed(workload(), 100);
    for (let crashes = 0; crashes < CRASHES; crashes++) {
      // Every other one while it starts: the transaction of its predecessor is still open then.
      const processor = await (crashes % 2 === 0 ? run.startReady('a') : run.start('a'));
      await run.killInTransaction('a', processor);
    }
    await run.startReady('a');
    await run.untilCaughtUp();
    await feed.stop();
    await run.judge();
    const ids = (await rig.cluster.transactions())
      .map(({ transactionalId }) => transactionalId)
      .filter((id) => id.startsWith(`${run.group}.`));
    expect(ids).toEqual([`${run.group}.a.0`]);
    exposed({ killsInTransaction: CRASHES / 2, abortedTransactions: CRASHES / 5 });
  },
);

const REJECTS = "void Promise.reject(new Error('nobody waits for this'));";
const UNCAUGHT = 'an error that nothing was there to catch';

row('J5: ends at once when a promise of the transform is rejected that nobody waits for', async ({ rig, exposed }) => {
  const run = await startScenario(rig, { transform: doing(REJECTS, { id: 500, once: true }) });
  const first = await run.startReady('a');
  const feed = run.seeder.feed(workload(), 200);
  expect(await first.untilExit()).toEqual({ code: null, signal: 'SIGKILL' });
  expect(first.log.at(-1)).toContain(UNCAUGHT);
  expect(first.log.at(-1)).toContain('nobody waits for this');
  await run.startReady('a');
  await run.untilCaughtUp();
  await feed.stop();
  await run.judge();
  rig.expose({ rejections: 1 });
  exposed({ rejections: 1, sources: 600, rebalances: 2 });
});

row(
  'J5: starts a worker again whose transform leaves a promise rejected, and ends with 1 where that goes on and on',
  async ({ rig, exposed }) => {
    const restart = { attempts: 3, minDelay: '100ms' };
    const run = await startScenario(rig, {
      transform: doing(REJECTS, { id: 500, once: false }),
      pipeline: { workers: 2 },
      config: { worker: { restart } },
    });
    const first = await run.startReady('a');
    const feed = run.seeder.feed(workload(), 200);
    expect(await first.untilExit({ timeoutMs: 90_000 })).toEqual({ code: 1, signal: null });
    const deaths = first.log.filter((line) => line.includes(UNCAUGHT));
    // Where a restart takes longer than the session, the record goes to the other worker and kills that one meanwhile.
    expect(deaths.length).toBeGreaterThan(restart.attempts);
    expect(deaths.length).toBeLessThanOrEqual(2 * restart.attempts + 1);
    expect(first.log.at(-1)).toContain(`given up after ${restart.attempts} restarts in a row`);

    await rig.write('transform.ts', TRANSFORM);
    await run.startReady('a');
    await run.untilCaughtUp();
    await feed.stop();
    await run.judge();
    rig.expose({ rejections: deaths.length });
    exposed({ rejections: 4, sources: 600, rebalances: 2 });
  },
);
