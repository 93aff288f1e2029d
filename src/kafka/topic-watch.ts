import type { ClusterConfig } from '../config/compiled.ts';
import { ClientError, type TopicPartition } from '../pipeline/ports.ts';
import { type Address, type BrokerConnection, openConnection } from './wire/connection.ts';
import { areOfOneCluster, markIn, markOf, textOf, type TopicMark } from './topic-mark.ts';
import { askForTopics } from './wire/metadata.ts';
import { isForClientOnly } from './wire/sasl.ts';

export interface TopicWatchOptions {
  readonly cluster: ClusterConfig;
  readonly clientId: string;
  readonly topics: readonly string[];
  /** The group's offsets are of a topic that is no more. Called once. */
  readonly lost: (failure: ClientError) => void;
  readonly report: (error: Error) => void;
}

const LOOK_MS = 3_000;
/** The same after failures: a broker that does not know the question logs it each time. */
const MAX_PAUSE_MS = 30_000;
/** For an answer; the connection ends, too, where nothing is asked for so long. */
const ANSWER_MS = 10_000;
/** How long a rebalance, or a rewind, waits for it. */
const PATIENCE_MS = 1_000;
/** A broker that has just come up may not know of a topic yet. */
const MISSING_MS = 10_000;
/** Failures in a row that are worth a word. */
const TOLD_FAILURES = 3;
const UNKNOWN_TOPIC = 3;

/**
 * Watches that the input's topics are those that the group's offsets are of. One that was deleted and made anew under its
 * name would be read on where the old one was read up to, and what it holds before that left out; librdkafka tells
 * nothing of it. Its id (KIP-516) does, which is asked for through a connection of its own, and kept with the offsets:
 * a process may have committed some of the new topic before it saw that, and the next one has to see it, too.
 */
export class TopicWatch {
  readonly #options: TopicWatchOptions;
  /** By topic. */
  readonly #known = new Map<string, TopicMark>();
  /** `performance.now()` of the first of the looks in a row that did not find a topic. */
  readonly #missing = new Map<string, number>();
  readonly #ended = new AbortController();
  #brokers: readonly Address[] = [];
  #connection: BrokerConnection | null = null;
  #failures = 0;
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: TopicWatchOptions) {
    this.#options = options;
  }

  /** Goes on by itself from then on; may be called again with other addresses. */
  start(brokers: readonly Address[]): void {
    const { sasl } = this.#options.cluster;
    if (sasl && isForClientOnly(sasl)) return;
    this.#brokers = brokers;
    if (this.#timer === null) this.#lookAfter(0);
  }

  /** Before positions are used that may be of another topic; not for long where no broker answers. */
  lookSoon(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PATIENCE_MS);
      void this.#look().then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** To be told of what stands with a committed offset. */
  committed(topic: string, metadata: string | undefined): void {
    const mark = markIn(metadata);
    if (!mark) return; // written by others, or by nobody
    const known = this.#known.get(topic);
    if (!known) this.#known.set(topic, mark);
    else if (areOfOneCluster(known, mark)) this.#compare(topic, known, mark);
  }

  /** What to commit with an offset, for those who come after; undefined where it is not known. */
  metadata(topic: string): string | undefined {
    const known = this.#known.get(topic);
    return known && textOf(known);
  }

  /** Whether a partition was added to its topic after the group had begun to read that. */
  isAdded({ topic, partition }: TopicPartition): boolean {
    return partition >= (this.#known.get(topic)?.partitions ?? Infinity);
  }

  close(): void {
    this.#ended.abort();
    if (this.#timer) clearTimeout(this.#timer);
    this.#connection?.close();
  }

  #lookAfter(ms: number): void {
    if (this.#ended.signal.aborted) return;
    this.#timer = setTimeout(() => {
      void this.#look();
    }, ms);
  }

  /** One at a time. Never fails. */
  #look(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#looking ??= this.#ask().finally(() => {
      this.#looking = null;
      this.#lookAfter(Math.min(LOOK_MS * 2 ** this.#failures, MAX_PAUSE_MS));
    });
    return this.#looking;
  }

  async #ask(): Promise<void> {
    const { cluster, clientId, topics, report } = this.#options;
    const { signal } = this.#ended;
    const [broker] = this.#brokers;
    if (!broker) return;
    const isNew = this.#connection === null;
    try {
      this.#connection ??= await openConnection(cluster, broker, { clientId, timeoutMs: ANSWER_MS, signal });
      const { clusterId, brokers, found, missing } = await askForTopics(this.#connection.ask, topics);
      this.#brokers = brokers;
      this.#failures = 0;
      this.#miss(missing);
      for (const [topic, { id, partitions }] of found) {
        const seen = markOf(clusterId, id, partitions);
        const known = this.#known.get(topic);
        if (known && areOfOneCluster(known, seen)) this.#compare(topic, known, seen);
        else this.#known.set(topic, seen);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#connection?.close();
      this.#connection = null;
      // A broker closes what stood idle, and that whose credentials have run out (KIP-368).
      if (!isNew) return this.#ask();
      this.#brokers = [...this.#brokers.slice(1), broker]; // the next one may do better
      if (++this.#failures !== TOLD_FAILURES) return;
      const why = error instanceof Error ? error.message : String(error);
      report(
        new ClientError(
          `whether topics were made anew can't be told: ${broker.host}:${broker.port}: ${why}`,
          'retriable',
          0,
        ),
      );
    }
  }

  #compare(topic: string, known: TopicMark, seen: TopicMark): void {
    if (known.topic === seen.topic) {
      if (seen.partitions < known.partitions) this.#known.set(topic, seen); // the group has begun with fewer
      return;
    }
    this.#lose(
      `topic ${topic} was deleted and made anew: the group's offsets are those of the old one, and would skip what the ` +
        `new one begins with. Reset them (kafka-consumer-groups --reset-offsets --to-earliest) and start again`,
    );
  }

  #miss(missing: readonly string[]): void {
    const now = performance.now();
    for (const topic of this.#missing.keys()) if (!missing.includes(topic)) this.#missing.delete(topic);
    for (const topic of missing) {
      const since = this.#missing.get(topic) ?? now;
      this.#missing.set(topic, since);
      if (now - since < MISSING_MS) continue;
      this.#lose(`topic ${topic} was deleted: create it again, or take it out of the configuration, and start again`);
    }
  }

  #lose(message: string): void {
    if (this.#ended.signal.aborted) return;
    this.close();
    this.#options.lost(new ClientError(message, 'denied', UNKNOWN_TOPIC));
  }
}
