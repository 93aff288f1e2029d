import { expect } from 'vitest';

import { judgeAlive } from '../helpers/judge-alive.ts';
import { withOwnBroker } from '../helpers/own-broker.ts';
import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';

const it = withOwnBroker();

it('B1: survives a clean restart of the broker under load without a restart of its own', async ({ rig, broker }) => {
  const run = await startScenario(rig);
  await run.startReady('a');
  await run.startReady('b');
  const feed = run.seeder.feed(workload(), 300);
  await run.untilCommitted(500);
  await waitFor('an open transaction', () => run.hasOpenTransaction('a'), { everyMs: 5 });
  await broker.stop();
  await broker.start();
  await judgeAlive(run, feed);
});

const QUIET_MS = 8_000;

it('B9: waits for a broker that is down, unready and without flooding the log, and then works', async ({
  rig,
  broker,
}) => {
  const run = await startScenario(rig);
  await run.seeder.send(Array.from({ length: 200 }, workload()));
  await broker.stop();
  const startedAt = Date.now();
  const processor = await run.start('a');
  const says = await processor.untilLogged(/broker/);
  expect(says).toContain(broker.bootstrapServers);
  const readiness = await processor.readiness();
  expect(readiness?.status).toBe(503);
  expect(readiness?.body).toContain(`no broker is connected at ${broker.bootstrapServers}`);
  await processor.until('a while to pass', () => Date.now() > startedAt + QUIET_MS);
  expect(processor.log.length, 'lines in 8 s').toBeLessThan(20);

  await broker.start();
  await processor.untilReady();
  await run.judge();
});
