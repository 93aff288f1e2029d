import { setTimeout as delay } from 'node:timers/promises';

import { type Cluster, connectCluster } from '../../test/helpers/cluster.ts';
import type { Broker, OwnBroker } from '../broker.ts';
import type { Witness } from './kills.ts';

/** A broker that is killed again while it starts is started so often. */
const STARTS = 5;
/** Clients may find that the broker is gone before we hear of its end. */
const HEARSAY_MS = 200;
/** For that long after a start, clients may still fail for what was before. */
const SETTLING_MS = 30_000;

/** What it takes to ask the cluster, whatever happens to its broker meanwhile. */
export interface ReachableBroker {
  readonly bootstrapServers: string;
  /**
   * Does what may be done twice: once more, on a new connection, where it failed as the broker was killed. Waits while the
   * broker is away.
   */
  withCluster<T>(work: (cluster: Cluster) => Promise<T>): Promise<T>;
}

/** A broker that is started again whenever somebody kills it. One that was given to the demo is left alone. */
export interface KeptBroker extends ReachableBroker {
  /** undefined for one that was given. */
  readonly killCommand: string | undefined;
  /** `performance.now()` when it last came back. */
  readonly backAt: number;
  /** SIGKILL. Gives false where there is nothing to kill: it is not ours, or it is down. */
  kill(): Promise<boolean>;
  remove(): Promise<void>;
}

export function keepBroker(broker: Broker, witness: Witness): KeptBroker {
  const own = isOwn(broker) ? broker : null;
  const clusters: Promise<Cluster>[] = [];
  let current: Promise<Cluster> | null = null;
  let isRemoved = false;
  /** Whether the next end is the demo's own doing. */
  let isOurs = false;
  /** Resolves when it is there; rejects where it does not come back. */
  let back: Promise<void> = Promise.resolve();
  let isDown = false;
  let goneAt = -Infinity;
  let backAt = -Infinity;

  async function keep(kept: OwnBroker): Promise<void> {
    for (;;) {
      await kept.untilGone();
      if (isRemoved) return;
      back = restart(kept);
      try {
        await back;
      } catch {
        return; // whoever works with the cluster waits for it, and so gets the error
      }
    }
  }

  async function restart(kept: OwnBroker): Promise<void> {
    isDown = true;
    for (let starts = 1; ; starts++) {
      goneAt = performance.now();
      if (!isOurs) witness.killed({ victim: 'broker', by: 'somebody else' });
      isOurs = false;
      try {
        await kept.start();
        break;
      } catch (error) {
        if (isRemoved) return;
        if (starts === STARTS) throw error;
        await kept.kill(); // it may be there, and answer nothing
      }
    }
    backAt = performance.now();
    isDown = false;
    witness.started('broker', kept.killCommand());
  }

  function connect(): Promise<Cluster> {
    const cluster = connectCluster(broker.bootstrapServers);
    clusters.push(cluster);
    return cluster;
  }

  if (own) void keep(own);

  return {
    bootstrapServers: broker.bootstrapServers,
    get killCommand() {
      return own?.killCommand();
    },
    get backAt() {
      return backAt;
    },
    async withCluster(work) {
      for (;;) {
        await back;
        const begun = performance.now();
        const cluster = (current ??= connect());
        try {
          return await work(await cluster);
        } catch (error) {
          if (own) await delay(HEARSAY_MS);
          if (!isDown && goneAt < begun && performance.now() - backAt > SETTLING_MS) throw error;
          // It is closed at the end only: somebody else may be in a call of it.
          if (current === cluster) current = null;
        }
      }
    },
    async kill() {
      if (!own || isDown) return false;
      isOurs = true;
      await own.kill();
      return true;
    },
    async remove() {
      isRemoved = true;
      for (const cluster of clusters)
        await cluster.then(
          (connected) => connected.close(),
          () => undefined, // it never connected, and whoever wanted it was told
        );
      await broker.remove();
    },
  };
}

function isOwn(broker: Broker): broker is OwnBroker {
  return 'kill' in broker;
}
