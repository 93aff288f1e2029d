import { expect } from 'vitest';

import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import { rowsWith } from './rows.ts';

const ID_EXPIRES_MS = 4_000;
const row = rowsWith({
  'transaction.max.timeout.ms': '60000',
  'transactional.id.expiration.ms': String(ID_EXPIRES_MS),
  'transaction.remove.expired.transaction.cleanup.interval.ms': '500',
});

row('T5: the transaction timeout is above what the broker allows', async ({ rig, exposed }) => {
  const transaction = { timeout: '61s' };
  const run = await startScenario(rig, { pipeline: { transaction } });
  const refused = await run.start('a');
  expect((await refused.untilExit()).code).toBe(1);
  expect(refused.log.at(-1)).toContain('transaction.timeout');
  expect(refused.log.at(-1)).toContain('transaction.max.timeout.ms');
  rig.expose({ startsRefused: 1 });

  await run.seeder.send(Array.from({ length: 100 }, workload()));
  transaction.timeout = '60s';
  await run.startReady('b');
  await run.judge();
  exposed({ startsRefused: 1, transactions: 1 });
});

const IDLE_ROUNDS = 3;

row('T6: the transactional id expires while there is nothing to do', async ({ rig, exposed }) => {
  const run = await startScenario(rig);
  const processor = await run.startReady('a');
  const next = workload();
  const isKnown = async (): Promise<boolean> =>
    (await rig.cluster.transactions()).some(({ transactionalId }) => transactionalId.startsWith(`${run.group}.a.`));
  let idsExpired = 0;
  for (let round = 0; round < IDLE_ROUNDS; round++) {
    await run.seeder.send(Array.from({ length: 50 }, next));
    await run.untilCaughtUp();
    await waitFor('the transactional id to expire', async () => !(await isKnown()), { timeoutMs: 5 * ID_EXPIRES_MS });
    idsExpired++;
  }
  await run.seeder.send(Array.from({ length: 50 }, next));

  await run.judge();
  expect(processor.exit).toBeNull();
  await processor.untilReady();
  rig.expose({ idsExpired });
  exposed({ idsExpired: IDLE_ROUNDS, abortsCounted: IDLE_ROUNDS, transactions: IDLE_ROUNDS + 1 });
});
