import type { EffectConfig } from '../config/compiled.ts';
import { type CreateLane, Lane, type LaneContext, type LaneStart } from '../pipeline/lane.ts';
import { type Consumer, type InputRecord, type OutputRecord, partitionId } from '../pipeline/ports.ts';
import type { Adapter } from './adapter.ts';
import type { ReadRecord } from './read-record.ts';
import { Strand } from './strand.ts';

export interface EffectLaneOptions {
  readonly config: Pick<EffectConfig, 'batch' | 'concurrency'>;
  readonly adapter: Adapter;
  readonly read: ReadRecord;
  /** Asks the broker for a partition's ends. */
  readonly log: Consumer['log'];
}

/** Makes the lanes of an effect. A partition that comes back waits for what its former lane has under way. */
export function effectLanes(options: EffectLaneOptions): CreateLane {
  const former = new Map<string, EffectLane>();
  return async (start, context) => {
    const { topic, partition } = start;
    const id = partitionId(start);
    // Of what is there already, nobody knows what the former owner has applied.
    const { lastStable } = await options.log({ topic, partition });
    const lane = new EffectLane(start, context, options, lastStable - 1, former.get(id)?.settling ?? null);
    former.set(id, lane);
    return lane;
  };
}

/** How a record that is done with ended: without output, or in a dead letter. */
interface Ending {
  readonly outputs: readonly OutputRecord[];
  readonly deadLetter: string | null;
}

const APPLIED: Ending = { outputs: [], deadLetter: null };

/**
 * An effect's lane: hands its records to its strands, by key, and completes them in the order of their offsets, however
 * the strands overtake each other. A record is completed only after the target has confirmed it; its offset is committed
 * after that, so that a crash in between repeats it and never loses it.
 */
class EffectLane extends Lane {
  readonly #strands: readonly Strand[];
  /** Index in the queue of the first record that no strand has yet. */
  #next = 0;
  /** Endings of records that others before them keep from being completed, by offset. */
  readonly #endings = new Map<number, Ending>();
  /** Records that strands were given and that are not committed. */
  #uncommitted = 0;
  readonly #window: number;
  /** Offsets up to this one may have been tried before. */
  #tried: number;
  /** What the former lane of the partition has under way. */
  #former: Promise<unknown> | null;
  #isQuiet = false;

  constructor(
    start: LaneStart,
    context: LaneContext,
    options: EffectLaneOptions,
    tried: number,
    former: Promise<unknown> | null,
  ) {
    super(start, context);
    const { adapter, config, read } = options;
    const { maxRecords, maxWaitMs } = config.batch;
    const perCall = Math.min(maxRecords, adapter.maxBatch ?? maxRecords);
    this.#window = maxRecords === 1 ? config.concurrency : Infinity;
    this.#tried = tried;
    this.#strands = Array.from(
      { length: config.concurrency },
      () =>
        new Strand({
          adapter,
          maxRecords: perCall,
          maxWaitMs: perCall === 1 ? 0 : maxWaitMs,
          retry: context.retry,
          observer: context.observer,
          read,
          isRedelivered: ({ offset }) => offset <= this.#tried,
          verdict: ({ offset }) => context.verdicts.get(this, offset),
          applied: (record) => this.#ended(record, APPLIED),
          giveUp: (record, error, attempts) => this.#giveUp(record, error, attempts),
          wake: () => {
            this.pump();
            context.wake();
          },
        }),
    );
    this.#former = former;
    void former?.then(() => {
      this.#former = null;
      context.wake();
    });
  }

  override get held(): string | null {
    return super.held ?? this.#strands.find(({ held }) => held !== null)?.held ?? null;
  }

  /** Settles when nothing of this lane is under way at the target. */
  get settling(): Promise<unknown> | null {
    const running: Promise<unknown>[] = this.#strands.flatMap((strand) => strand.running ?? []);
    if (this.#former) running.push(this.#former);
    return running.length === 0 ? null : Promise.all(running);
  }

  pump(): void {
    if (this.state !== 'idle' || this.#former || this.#isQuiet) return;
    this.#distribute();
    for (const strand of this.#strands) {
      if (!this.context.hasRoom()) return;
      strand.pump();
    }
  }

  #distribute(): void {
    for (; this.#next < this.queue.length && this.#uncommitted < this.#window; this.#next++) {
      const record = this.queue[this.#next];
      if (!record) return;
      this.#strands[strandOf(record, this.#strands.length)]?.accept(record);
      this.#uncommitted++;
    }
  }

  #ended(record: InputRecord, ending: Ending): void {
    this.#endings.set(record.offset, ending);
    for (;;) {
      const head = this.queue[this.head];
      const ended = head && this.#endings.get(head.offset);
      if (!ended) break;
      this.#endings.delete(head.offset);
      this.complete(head, ended.outputs, ended.deadLetter);
      this.#tried = Math.max(this.#tried, head.offset);
    }
    this.#next -= this.compact();
  }

  #giveUp(record: InputRecord, error: Error, attempts: number): string | null {
    const given = this.letterFor(record, error, attempts);
    if ('letter' in given) {
      this.#ended(record, { outputs: [given.letter], deadLetter: given.type });
      return null;
    }
    this.stops(record, error, given.held);
    return given.held;
  }

  override settled(offset: number, records: number): void {
    super.settled(offset, records);
    this.#uncommitted -= records;
  }

  /** What is confirmed behind a gap could not be committed: strands that lag catch up with those that are ahead. */
  override async quiet(): Promise<void> {
    this.#isQuiet = true;
    for (;;) {
      await this.settling;
      if (this.state === 'closed' || this.#endings.size === 0) return;
      const last = Math.max(...this.#endings.keys());
      for (const strand of this.#strands) strand.pump(last);
      if (this.settling === null && this.#endings.size > 0) return; // one waits for its next try
    }
  }

  protected override drop(): void {
    // What strands have, or had under way, may have been applied.
    this.#tried = Math.max(this.#tried, this.lastRead);
    super.drop();
    this.#next = 0;
    this.#uncommitted = 0;
    this.#endings.clear();
    for (const strand of this.#strands) strand.drop();
  }
}

/** Records of one key share a strand; those without a key are spread. */
function strandOf({ key, offset }: InputRecord, strands: number): number {
  if (strands === 1) return 0;
  if (key === null) return offset % strands;
  let hash = 0;
  for (const byte of key) hash = (Math.imul(hash, 31) + byte) | 0;
  return (hash >>> 0) % strands;
}
