import type { FlowConfig } from '../config/compiled.ts';
import type { Lane } from './lane.ts';
import type { Observer } from './observer.ts';
import type { Consumer, PartitionLog } from './ports.ts';
import { nextOffset } from './transaction.ts';

export interface LogWatchOptions {
  readonly consumer: Consumer;
  readonly observer: Observer;
  readonly onDataLoss: FlowConfig['input']['onDataLoss'];
  readonly lanes: () => readonly Lane[];
  /** The pipeline can't go on. */
  readonly fail: (message: string) => void;
}

/** A lane that can't read on where it stands. */
interface Gap {
  readonly lane: Lane;
  /** The next offset that it would read. */
  readonly position: number;
  /** `deleted`: the log begins behind that, at `at`. `beyond`: the log ends before it, at `at`. */
  readonly kind: 'deleted' | 'beyond';
  readonly at: number;
}

/** What the client last told of its state is a second old, and may be of before the lane began, or was moved. */
const STALE_MS = 2_000;

/** A lane that seems to have stopped, and what the broker says of its log; null until it does. */
interface Suspect {
  /** Where the lane stood when it was asked. */
  readonly position: number;
  log: PartitionLog | null;
}

/**
 * Watches that the logs which the lanes read are still those that they began with: going on somewhere else hides a loss.
 * Records may be deleted before they are read, by retention or by hand.
 *
 *   a lane seems to have stopped ──look()──▶ its broker is asked, beside the loop ──▶ found ──pass()──▶ goes on, or fails
 *
 * The brokers of other lanes are not asked: one that does not answer holds up nobody but its own lanes.
 */
export class LogWatch {
  readonly #options: LogWatchOptions;
  /** `performance.now()` since when lanes were seen to have stopped. */
  #stopped = new Map<Lane, number>();
  readonly #suspects = new Map<Lane, Suspect>();
  /** `performance.now()` when the client last said that it can't read on somewhere; it does not say where. */
  #toldAt = -Infinity;

  constructor(options: LogWatchOptions) {
    this.#options = options;
  }

  /** Whether the client may read no further in some lanes: it refuses to seek there. */
  get hasStopped(): boolean {
    return this.#isTold || this.#stopped.size > 0;
  }

  get #isTold(): boolean {
    return performance.now() - this.#toldAt < STALE_MS;
  }

  /** Whether `pass()` is due. */
  get isDue(): boolean {
    return [...this.#suspects.values()].some(({ log }) => log !== null);
  }

  /** The client says that it can't read on somewhere. */
  outOfRange(): void {
    this.#toldAt = performance.now();
  }

  /** To be called about once a second. */
  look(): void {
    const { consumer, lanes } = this.#options;
    const now = performance.now();
    const stopped = lanes().filter((lane) => consumer.fetched(lane)?.hasStopped === true);
    this.#stopped = new Map(stopped.map((lane) => [lane, this.#stopped.get(lane) ?? now]));
    for (const [lane, since] of this.#stopped) if (this.#isTold || now - since >= STALE_MS) this.#ask(lane);
    // Where records came before it in one batch, the client says nothing.
    for (const lane of lanes()) if (this.#isBeforeItsLog(lane)) this.#ask(lane);
  }

  #isBeforeItsLog(lane: Lane): boolean {
    if (!lane.isSettled || lane.paused) return false;
    const state = this.#options.consumer.fetched(lane);
    // What lies before the next fetch was read, or was never to be read: control records, aborted ones.
    return state !== undefined && state.logStart > lane.committed && state.nextFetch < state.logStart;
  }

  #ask(lane: Lane): void {
    if (this.#suspects.has(lane)) return;
    const { topic, partition } = lane;
    const suspect: Suspect = { position: positionOf(lane), log: null };
    this.#suspects.set(lane, suspect);
    this.#options.consumer.log({ topic, partition }).then(
      (log) => {
        suspect.log = log;
      },
      (error: unknown) => {
        this.#suspects.delete(lane); // asked again at the next look
        this.#options.observer.clientError('consumer', error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  /** Goes on behind what is gone, where the configuration says so. No poll may be in flight. @throws ClientError */
  pass(): void {
    const { consumer, lanes, onDataLoss } = this.#options;
    const gaps = new Map<Lane, Gap>();
    let isToRestart = false;
    for (const [lane, { position, log }] of this.#suspects) {
      if (!log) continue;
      this.#suspects.delete(lane);
      // It went on meanwhile, or was moved: what the broker said may be older than where it stands.
      if (lane.isClosed || positionOf(lane) !== position) continue;
      isToRestart = true;
      const gap = gapIn(lane, position, log);
      if (gap) gaps.set(lane, gap);
    }
    const serious = [...gaps.values()].find(({ kind }) => kind === 'beyond' || onDataLoss === 'stop');
    if (serious) this.#options.fail(described(serious));
    if (serious || !isToRestart) return;
    const all = lanes().map((lane) => {
      const { topic, partition } = lane;
      return { topic, partition, offset: gaps.get(lane)?.at ?? positionOf(lane) };
    });
    consumer.restart(all); // the client takes assignments as a whole
    for (const { lane, position, at } of gaps.values()) lane.skip(position, at);
    this.#stopped.clear();
    this.#toldAt = -Infinity;
  }
}

function gapIn(lane: Lane, position: number, { logStart, lastStable }: PartitionLog): Gap | null {
  if (position < logStart) return { lane, position, kind: 'deleted', at: logStart };
  if (position > lastStable) return { lane, position, kind: 'beyond', at: lastStable };
  return null;
}

/** Where a lane reads on. */
const positionOf = (lane: Lane): number => Math.max(lane.position, nextOffset(lane.lastRead));

/** For an operator: what happened, and the ways on. */
function described({ lane: { topic, partition }, position, kind, at }: Gap): string {
  const reset = `reset the group's offsets (kafka-consumer-groups --reset-offsets) and start again`;
  if (kind === 'beyond') {
    return (
      `${topic}-${partition} ends at offset ${at} now, but the group has read up to ${position}: the topic was deleted and ` +
      `made anew, or its brokers have lost records. To go on with what is there, ${reset}`
    );
  }
  return (
    `${topic}-${partition} begins at offset ${at} now, but the group has read only up to ${position}: records were ` +
    `deleted before they were processed. To accept the loss, set input.onDataLoss to "skip", or ${reset}`
  );
}
