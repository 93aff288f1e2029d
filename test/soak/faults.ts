import type { OwnBroker } from '../../dev/broker.ts';
import { SESSION_TIMEOUT_MS } from '../helpers/pipeline-config.ts';
import type { Processor } from '../helpers/processor.ts';
import type { Random } from '../helpers/random.ts';
import type { Scenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { workersOf } from '../helpers/workers.ts';

export interface Surroundings {
  readonly run: Scenario;
  readonly broker: OwnBroker;
  readonly random: Random;
  /** The supervisors that run now, by instance. */
  readonly running: Map<string, Processor>;
}

/** Each hurts once and mends again; what was hurt may still be recovering when it resolves. */
export type Fault = (around: Surroundings) => Promise<void>;

export const FAULTS: Readonly<Record<string, Fault>> = {
  'worker killed': async ({ running, random }) => {
    process.kill(pickWorker(running, random), 'SIGKILL');
  },
  'supervisor killed': async ({ run, running, random }) => {
    const [instance, processor] = random.pick([...running]);
    await processor.crash();
    running.set(instance, await run.start(instance));
  },
  'instance restarted': async ({ run, running, random }) => {
    const [instance, processor] = random.pick([...running]);
    processor.signal('SIGTERM');
    const { code } = await processor.untilExit({ timeoutMs: 60_000 });
    if (code !== 0) throw new Error(`SIGTERM did not end it well\n${processor.lastWords()}`);
    running.set(instance, await run.start(instance));
  },
  'worker frozen': async ({ running, random }) => {
    const pid = pickWorker(running, random);
    process.kill(pid, 'SIGSTOP');
    try {
      await pass(2 * SESSION_TIMEOUT_MS);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  },
  'broker frozen': async ({ broker }) => {
    await broker.freeze();
    await pass(5_000);
    await broker.thaw();
  },
  'broker restarted': async ({ broker }) => {
    await broker.stop();
    await broker.start();
  },
  'broker killed': async ({ broker }) => {
    await broker.kill();
    await broker.start();
  },
};

function pickWorker(running: Surroundings['running'], random: Random): number {
  return random.pick([...running.values()].flatMap((processor) => workersOf(processor))).pid;
}

/** A fault is a stretch of time: there is nothing else to wait for. */
async function pass(ms: number): Promise<void> {
  const until = Date.now() + ms;
  await waitFor('time to pass', () => Date.now() >= until, { timeoutMs: 2 * ms, everyMs: 100 });
}
