import { expect } from 'vitest';

import { COPY, copied } from '../helpers/copy.ts';
import { withOwnBroker } from '../helpers/own-broker.ts';
import { it } from '../helpers/rig.ts';
import { startScenario } from '../helpers/scenario.ts';
import { workload } from '../helpers/workload.ts';

const GRACE_MS = 5_000;
const config = { shutdown: { grace: `${GRACE_MS}ms` } };
const CLEAN = { code: 0, signal: null };
/** For leaving the group, and for a busy machine. */
const MARGIN_MS = 3_000;

it('J1: ends at once on SIGTERM while it tries to connect', async ({ rig }) => {
  const nobody = '127.0.0.1:1';
  const run = await startScenario(rig, { config: { ...config, kafka: { bootstrapServers: nobody } } });
  const processor = await run.start('a');
  await processor.untilLogged(/starts/);
  processor.signal('SIGTERM');
  expect(await processor.untilExit({ timeoutMs: GRACE_MS + MARGIN_MS })).toEqual(CLEAN);
});

const RETRYING = `export default () => { throw new Error('not today'); };`;

it('J1: ends within the grace on SIGTERM in a back-off, and leaves the record to its successor', async ({ rig }) => {
  const retry = { attempts: 1_000, minDelay: '1h', maxDelay: '1h' };
  const run = await startScenario(rig, { config, transform: RETRYING, pipeline: { retry }, expect: copied });
  const processor = await run.startReady('a');
  await run.seeder.send([{ key: null, value: Buffer.from('{}') }]);
  await processor.untilLogged(/not today/);
  processor.signal('SIGTERM');
  expect(await processor.untilExit({ timeoutMs: GRACE_MS + MARGIN_MS })).toEqual(CLEAN);

  await rig.write('transform.ts', COPY);
  await run.startReady('a');
  await run.judge();
});

it('J1: ends within the grace on SIGTERM in the middle of a rebalance', async ({ rig }) => {
  const run = await startScenario(rig, { config });
  const processors = [await run.startReady('a')];
  const feed = run.seeder.feed(workload(), 300);
  // The group waits for a member that was killed: the rebalance which the next one asks for can not end.
  await (await run.startReady('killed')).kill();
  processors.push(await run.start('b'));
  await processors[1]?.untilLogged(/starts/);
  for (const processor of processors) processor.signal('SIGTERM');
  for (const processor of processors)
    expect(await processor.untilExit({ timeoutMs: GRACE_MS + MARGIN_MS })).toEqual(CLEAN);
  await feed.stop();

  await run.startReady('c');
  await run.judge();
});

const onOwnBroker = withOwnBroker();

onOwnBroker('J1: ends within the grace on SIGTERM with the broker down', async ({ rig, broker }) => {
  const run = await startScenario(rig, { config });
  const processor = await run.startReady('a');
  const feed = run.seeder.feed(workload(), 300);
  await run.untilCommitted(300);
  await broker.stop();
  processor.signal('SIGTERM');
  await processor.untilExit({ timeoutMs: GRACE_MS + MARGIN_MS });
  await broker.start();
  await run.startReady('a');
  await feed.stop();
  await run.judge();
});

onOwnBroker('J1: is forced by a second signal to end a stop that waits', async ({ rig, broker }) => {
  const run = await startScenario(rig, { config: { shutdown: { grace: '10m' } } });
  const processor = await run.startReady('a');
  const feed = run.seeder.feed(workload(), 300);
  await processor.until('an open transaction', () => run.hasOpenTransaction('a'), { everyMs: 5 });
  await broker.freeze();
  processor.signal('SIGTERM');
  await processor.untilLogged(/stops/);
  // Frozen in the middle of the load, the broker confirms nothing: there is nothing it could end with.
  const waitsUntil = Date.now() + 1_000;
  await processor.until('a second to pass', () => Date.now() > waitsUntil);
  processor.signal('SIGTERM');
  expect((await processor.untilExit({ timeoutMs: MARGIN_MS })).code).not.toBe(0);

  await broker.thaw();
  await run.startReady('a');
  await feed.stop();
  await run.judge();
});
