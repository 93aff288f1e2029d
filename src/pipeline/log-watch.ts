import type { FlowConfig } from '../config/compiled.ts';
import type { Lane } from './lane.ts';
import type { Observer } from './observer.ts';
import type { Consumer } from './ports.ts';
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

/**
 * Watches that the logs which the lanes read are still those that they began with: going on somewhere else hides a loss.
 * Records may be deleted before they are read, by retention or by hand.
 */
export class LogWatch {
  readonly #options: LogWatchOptions;
  /** `performance.now()` since when lanes were seen to have stopped. */
  #stopped = new Map<Lane, number>();
  #isOutOfRange = false;

  constructor(options: LogWatchOptions) {
    this.#options = options;
  }

  /** Whether `pass()` is due. */
  get isOutOfRange(): boolean {
    return this.#isOutOfRange;
  }

  /** The client says that it can't read on somewhere. */
  outOfRange(): void {
    this.#isOutOfRange = true;
  }

  /** To be called about once a second. */
  look(): void {
    const now = performance.now();
    const lanes = this.#options.lanes();
    const stopped = lanes.filter((lane) => this.#options.consumer.fetched(lane)?.hasStopped === true);
    this.#stopped = new Map(stopped.map((lane) => [lane, this.#stopped.get(lane) ?? now]));
    // What the client says of it gets lost where records came before it in one batch.
    this.#isOutOfRange ||=
      [...this.#stopped.values()].some((since) => now - since >= STALE_MS) ||
      lanes.some((lane) => this.#isBeforeItsLog(lane));
  }

  #isBeforeItsLog(lane: Lane): boolean {
    if (!lane.isSettled || lane.paused) return false;
    const state = this.#options.consumer.fetched(lane);
    // What lies before the next fetch was read, or was never to be read: control records, aborted ones.
    return state !== undefined && state.logStart > lane.committed && state.nextFetch < state.logStart;
  }

  /** Goes on behind what is gone, where the configuration says so. No poll may be in flight. */
  async pass(): Promise<void> {
    const { consumer, lanes, observer, onDataLoss } = this.#options;
    const all = lanes();
    const found = await Promise.all(all.map((lane) => this.#gap(lane)));
    const gaps = found.filter((gap) => gap !== null);
    const serious = gaps.find(({ kind }) => kind === 'beyond' || onDataLoss === 'stop');
    if (serious) {
      this.#options.fail(described(serious));
      return;
    }
    const positions = all.map((lane, index) => ({
      topic: lane.topic,
      partition: lane.partition,
      offset: found[index]?.at ?? positionOf(lane),
    }));
    // All of them: the client reads nothing more where it was out of range, and does not say where that was.
    if (positions.length > 0) consumer.restart(positions);
    for (const { lane, position, at } of gaps) observer.skipped(lane, position, at);
    this.#stopped.clear();
    this.#isOutOfRange = false;
  }

  async #gap(lane: Lane): Promise<Gap | null> {
    const { topic, partition } = lane;
    const { logStart, lastStable } = await this.#options.consumer.log({ topic, partition });
    const position = positionOf(lane);
    if (position < logStart) return { lane, position, kind: 'deleted', at: logStart };
    if (position > lastStable) return { lane, position, kind: 'beyond', at: lastStable };
    return null;
  }
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
