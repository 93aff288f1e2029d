import { describe, expect } from 'vitest';

import { withOwnBroker } from '../helpers/own-broker.ts';
import { SESSION_TIMEOUT_MS, TRANSACTION_TIMEOUT_MS } from '../helpers/pipeline-config.ts';
import { startScenario } from '../helpers/scenario.ts';
import { workload } from '../helpers/workload.ts';

// In the consumer protocol the broker decides how long a silent member is waited for: 45 s by default.
const it = withOwnBroker({
  'group.consumer.session.timeout.ms': String(SESSION_TIMEOUT_MS),
  'group.consumer.min.session.timeout.ms': '1000',
  'group.consumer.heartbeat.interval.ms': '500',
  'group.consumer.min.heartbeat.interval.ms': '100',
});
const RECOVERY_MS = TRANSACTION_TIMEOUT_MS + SESSION_TIMEOUT_MS + 5_000;

// The third, cooperative-sticky, is the default: all other tests run under it.
const eager = { assignor: 'range' };
const consumerProtocol = {
  protocol: 'consumer',
  sessionTimeout: undefined,
  staticMembership: undefined,
  properties: {},
};

describe.each([
  ['the range assignor', eager],
  ['the consumer protocol', consumerProtocol],
])('D5: under %s', (_, consumer) => {
  it('goes on exactly once after SIGKILL with an open transaction, and while it scales 1→2→1', async ({ rig }) => {
    const run = await startScenario(rig, { consumer });
    const first = await run.startReady('a');
    const feed = run.seeder.feed(workload(), 300);
    await run.untilCommitted(300);

    let second = await run.startReady('b');
    for (let kills = 1; !(await run.killInTransaction('b', second)); kills++) {
      expect(kills, 'kills that missed the transaction').toBeLessThan(10);
      second = await run.startReady('b');
    }
    await run.untilCaughtUp(RECOVERY_MS);

    const third = await run.startReady('b');
    await third.until('an open transaction', () => run.hasOpenTransaction('b'));
    third.signal('SIGTERM');
    expect(await third.untilExit()).toEqual({ code: 0, signal: null });
    await run.untilCaughtUp();
    await feed.stop();

    const { exposure } = await run.judge();
    expect(exposure.abortedRecords).toBeGreaterThan(0);
    expect(exposure.rebalances).toBeGreaterThan(3);
    expect(first.exit).toBeNull();
  });
});
