import type { OwnBroker } from '../../../dev/broker.ts';
import { anyRequestOf, commits, type Api } from '../../helpers/kafka-proxy/request.ts';
import type { KafkaProxy } from '../../helpers/kafka-proxy.ts';
import type { Random } from '../../helpers/random.ts';
import type { Scenario } from '../../helpers/scenario.ts';
import { passed } from '../../helpers/wait.ts';
import type { Fleet } from './fleet.ts';

export interface World {
  readonly run: Scenario;
  readonly fleet: Fleet;
  readonly broker: OwnBroker;
  readonly proxy: KafkaProxy;
}

/** Hurts something and mends it again, within half a minute. */
type Fault = (world: World, random: Random) => Promise<void>;

const MOST_PROCESSES = 4;
export const GRACE_MS = 10_000;
/** A kill that meets no open transaction for so long is done without. */
const AIM_MS = 5_000;
const RESETS = 10;
const LOSSES = 3;
const LOST: readonly Api[] = ['Produce', 'InitProducerId', 'AddOffsetsToTxn', 'TxnOffsetCommit', 'EndTxn'];

const processFaults: Readonly<Record<string, Fault>> = {
  async kills({ run, fleet }, random) {
    const [instance, processor] = fleet.pick(random);
    await run.kill(instance, processor, { aimMs: AIM_MS });
    await passed(random.integer(0, 5_000));
    await fleet.start(instance);
  },
  async freezes({ fleet }, random) {
    const [, processor] = fleet.pick(random);
    processor.stop();
    await passed(random.integer(2_000, 20_000));
    processor.cont();
  },
  async scalings({ fleet }, random) {
    const isGrowing = random.fraction() < 0.5;
    if (fleet.size === 1 || (isGrowing && fleet.size < MOST_PROCESSES)) {
      await fleet.add();
      return;
    }
    const [instance, processor] = fleet.pick(random);
    fleet.forget(instance);
    processor.signal('SIGTERM');
    await processor.untilExit({ timeoutMs: 2 * GRACE_MS });
  },
};

const brokerFaults: Readonly<Record<string, Fault>> = {
  async brokerRestarts({ broker }, random) {
    await broker.stop();
    await passed(random.integer(0, 10_000));
    await broker.start();
  },
  async brokerCrashes({ broker }, random) {
    await broker.kill();
    await passed(random.integer(0, 10_000));
    await broker.start();
  },
  async brokerFreezes({ broker }, random) {
    await broker.freeze();
    await passed(random.integer(2_000, 20_000));
    await broker.thaw();
  },
};

const networkFaults: Readonly<Record<string, Fault>> = {
  async resets({ proxy }, random) {
    for (let count = 0; count < RESETS; count++) {
      proxy.reset();
      await passed(random.integer(500, 3_000));
    }
  },
  async slowLines({ proxy }, random) {
    proxy.slow({ latencyMs: [0, 500], bytesPerSecond: 1_000_000, draw: () => random.fraction() });
    await passed(20_000);
  },
  async deafLines({ proxy }, random) {
    proxy.swallow();
    await passed(random.integer(2_000, 20_000));
  },
  async lostReplies({ proxy }, random) {
    for (let count = 0; count < LOSSES; count++) {
      proxy.loseReplies(anyRequestOf(random.pick(LOST)));
      await passed(random.integer(2_000, 6_000));
    }
  },
  async lateCommits({ proxy }, random) {
    const commit = proxy.hold(commits);
    await passed(random.integer(4_000, 8_000));
    // The broker may be away, or may never answer it: what the request did is seen in the end.
    if (commit.isCaught) commit.release().catch(() => undefined);
  },
};

/** Of each group one at a time: what several of one would do together can not be told apart. */
const GROUPS = [processFaults, brokerFaults, networkFaults];

/** One slot's faults: at least one, at most one of each group. */
export function drawFaults(random: Random): string[] {
  const drawn = GROUPS.filter(() => random.fraction() < 0.5);
  const groups = drawn.length > 0 ? drawn : [random.pick(GROUPS)];
  return groups.map((group) => random.pick(Object.keys(group)));
}

export async function strike(name: string, world: World, random: Random): Promise<void> {
  const fault = { ...processFaults, ...brokerFaults, ...networkFaults }[name];
  if (!fault) throw new Error(`there is no fault ${name}`);
  await fault(world, random);
  if (name in networkFaults) world.proxy.mend();
}
