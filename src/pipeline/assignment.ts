import type { CreateLane, Lane, LaneContext } from './lane.ts';
import type { Consumer, InputRecord, TopicPartition, TopicPartitionOffset } from './ports.ts';

/** For so long nothing arrives before a position is committed for which there is no record. */
const QUIET_MS = 1_000;

/** The partitions that are ours now, each with its lane. */
export class Assignment {
  readonly #consumer: Consumer;
  readonly #createLane: CreateLane;
  readonly #context: LaneContext;
  readonly #startAt: 'earliest' | 'latest';
  readonly #lanes = new Map<string, Map<number, Lane>>();
  #flat: Lane[] = [];
  #last: Lane | undefined;

  constructor(consumer: Consumer, createLane: CreateLane, context: LaneContext, startAt: 'earliest' | 'latest') {
    this.#consumer = consumer;
    this.#createLane = createLane;
    this.#context = context;
    this.#startAt = startAt;
  }

  get lanes(): readonly Lane[] {
    return this.#flat;
  }

  /** Sorts records into their lanes; drops those of partitions that are no longer ours. */
  accept(records: readonly InputRecord[], onTopic: (topic: string, count: number) => void): void {
    const now = performance.now();
    let topic = '';
    let count = 0;
    for (const record of records) {
      let lane = this.#last;
      if (lane?.partition !== record.partition || lane.topic !== record.topic) {
        lane = this.#lanes.get(record.topic)?.get(record.partition);
        this.#last = lane;
        if (!lane) continue;
        lane.lastArrival = now;
      }
      if (record.topic !== topic) {
        if (count > 0) onTopic(topic, count);
        topic = record.topic;
        count = 0;
      }
      count++;
      record.topic = topic; // one text for all, not one a record
      lane.accept(record);
    }
    if (count > 0) onTopic(topic, count);
    this.#last = undefined;
  }

  /** Tells lanes that reading came to the end of their partition, after the records before it were accepted. */
  acceptEnds(ends: readonly TopicPartitionOffset[]): void {
    for (const { topic, partition, offset } of ends) this.#lanes.get(topic)?.get(partition)?.reachedEnd(offset);
  }

  /**
   * Lanes that stand where the group has not committed, without a record to show for it: at their start, or behind
   * control records and aborted records. Committed past those, the lag is 0 for every tool, and an idle group's offset
   * does not grow older than the log.
   */
  get unpinned(): Lane[] {
    const quiet = performance.now() - QUIET_MS; // not after each record of a slow input
    return this.#flat.filter((lane) => !lane.pinned || (lane.position > lane.committed && lane.lastArrival < quiet));
  }

  /** Opens lanes at the committed offsets, or where the configuration says where there are none. */
  async open(partitions: readonly TopicPartition[]): Promise<TopicPartitionOffset[]> {
    const starts = await this.#committed(partitions);
    const lanes = await Promise.all(starts.map(async (start) => this.#createLane(start, this.#context)));
    for (const lane of lanes) {
      let byPartition = this.#lanes.get(lane.topic);
      if (!byPartition) this.#lanes.set(lane.topic, (byPartition = new Map<number, Lane>()));
      byPartition.get(lane.partition)?.close();
      byPartition.set(lane.partition, lane);
    }
    this.#flatten();
    return starts.map(({ topic, partition, offset }) => ({ topic, partition, offset }));
  }

  close(partitions: readonly TopicPartition[]): void {
    // The client keeps a partition paused over its next assignment, where nobody would know of it.
    const paused = partitions.filter(({ topic, partition }) => this.#lanes.get(topic)?.get(partition)?.paused === true);
    if (paused.length > 0) this.#consumer.resume(paused);
    for (const { topic, partition } of partitions) {
      this.#lanes.get(topic)?.get(partition)?.close();
      this.#lanes.get(topic)?.delete(partition);
    }
    this.#flatten();
  }

  #flatten(): void {
    this.#flat = [...this.#lanes.values()].flatMap((byPartition) => [...byPartition.values()]);
    this.#last = undefined;
  }

  /**
   * Drops everything read and goes back to what the group has committed. No poll may be in flight. Where nothing is
   * committed yet the start of the assignment counts: a new "latest" would skip what was read meanwhile.
   * @param hasStopped Whether the client reads no further in some of them: it refuses to seek there.
   */
  async rewind(hasStopped: boolean): Promise<void> {
    const lanes = this.#flat;
    const committed = await this.#committed(lanes);
    for (const [index, { offset, pinned }] of committed.entries()) lanes[index]?.rewind(offset, pinned);
    const positions = committed.map(({ topic, partition, offset }) => ({ topic, partition, offset }));
    if (hasStopped) this.#consumer.restart(positions);
    else await this.#consumer.seek(positions);
  }

  /** Pauses lanes that can not take more, resumes those that can. */
  regulate(): void {
    const pause: Lane[] = [];
    const resume: Lane[] = [];
    for (const lane of this.#flat) {
      if (lane.paused ? !lane.shouldResume : !lane.shouldPause) continue;
      (lane.paused ? resume : pause).push(lane);
      lane.paused = !lane.paused;
    }
    const partitions = (list: Lane[]) => list.map(({ topic, partition }) => ({ topic, partition }));
    if (pause.length > 0) this.#consumer.pause(partitions(pause));
    if (resume.length > 0) this.#consumer.resume(partitions(resume));
  }

  /** In the order asked for. `pinned` tells whether the group has the offset or it follows from `startAt`. */
  async #committed(partitions: readonly TopicPartition[]): Promise<(TopicPartitionOffset & { pinned: boolean })[]> {
    const answers = await this.#consumer.committed(partitions);
    return Promise.all(
      answers.map(async ({ topic, partition, offset }) => {
        if (offset >= 0) return { topic, partition, offset, pinned: true };
        const known = this.#lanes.get(topic)?.get(partition);
        if (known) return { topic, partition, offset: known.committed, pinned: false };
        const { logStart, lastStable } = await this.#consumer.log({ topic, partition });
        // All that an added partition holds came after the group had begun, which is what "latest" speaks of.
        const fromStart = this.#startAt === 'earliest' || (await this.#consumer.isAdded({ topic, partition }));
        return { topic, partition, offset: fromStart ? logStart : lastStable, pinned: false };
      }),
    );
  }
}
