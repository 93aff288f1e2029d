import type {
  Consumer,
  FetchState,
  PartitionLog,
  Polled,
  RebalanceListener,
  TopicPartition,
  TopicPartitionOffset,
} from '../pipeline/ports.ts';
import { ClientError, partitionId } from '../pipeline/ports.ts';
import { connect } from './connect.ts';
import { type ConsumerOptions, createConsumerClient } from './consumer-client.ts';
import { explained } from './denials.ts';
import { classify, FATAL } from './errors.ts';
import { type CommittedOffset, type ConsumerClient, disconnected, promised } from './native.ts';
import { assignAgain, committedOffsets, partitionLog, seekAll } from './positions.ts';
import { watchConnections } from './refusals.ts';
import type { Statistics } from './statistics.ts';
import { TopicWatch } from './topic-watch.ts';

/** The client tells of a refusal that repeats every 30 s. */
const REFUSED_MS = 20_000;
/**
 * Reports of the client's, one a second, without a connected broker. A client that was once told of no brokers never
 * finds one again (librdkafka #5301): a new one has to.
 */
const CUT_OFF_REPORTS = 30;
/** A static member that is fenced so often within that time has a rival. */
const MAX_FENCES = 3;
const FENCES_MS = 60_000;

/**
 * A group member on the client's callback classes.
 *
 *   connecting ──▶ member ──fenced, or cut off from all brokers──▶ losing ──the listener has let go──▶ connecting
 *
 * A client whose membership is over, or that finds no broker any more, is replaced by a new one, which joins anew.
 */
export class KafkaInput implements Consumer {
  readonly #options: ConsumerOptions;
  readonly #topics: TopicWatch;
  readonly #ended = new AbortController();
  #client: ConsumerClient | null = null;
  #listener: RebalanceListener | null = null;
  /** Remembered, since the client answers NONE while it closes. */
  #cooperative = false;
  /** Rebalances are answered one after the other. */
  #rebalancing: Promise<void> = Promise.resolve();
  /** Rebalances that the client waits for the answer to. */
  #unanswered = 0;
  /** What the group has given, by `partitionId`. */
  readonly #given = new Map<string, TopicPartition>();
  #statistics: Statistics = { connected: false, partitions: new Map() };
  /** How many reports in a row told of no connected broker. */
  #cutOff = 0;
  /** Set by the client's call-back when its queue is no longer empty, and by wake(). */
  #signalled = false;
  #awaken: (() => void) | null = null;
  /** The last call that may still use the client. */
  #consuming: Promise<unknown> = Promise.resolve();
  #failure: ClientError | null = null;
  /** `performance.now()` of the first refusal since any broker was connected. */
  #refusedSince: number | null = null;
  /** `performance.now()` of each time the group took another member for this one. */
  #fences: number[] = [];
  /** Settles when a new client has taken the place of the last, and that one, and all before it, have ended. */
  #replacing: Promise<unknown> = Promise.resolve();

  constructor(options: ConsumerOptions) {
    this.#options = options;
    this.#topics = new TopicWatch({
      ...options,
      lost: (failure) => {
        this.#failure = failure;
        this.wake();
      },
    });
  }

  async start(listener: RebalanceListener, signal: AbortSignal): Promise<void> {
    this.#listener = listener;
    await this.#join(AbortSignal.any([signal, this.#ended.signal]));
  }

  async #join(signal: AbortSignal): Promise<void> {
    const { cluster, report, topics } = this.#options;
    const create = () =>
      createConsumerClient(this.#options, {
        rebalance: (client, code, partitions) => {
          this.#unanswered++;
          this.#rebalancing = this.#rebalancing
            .then(() => this.#rebalance(client, code, partitions))
            .finally(() => {
              this.#unanswered--;
            });
        },
        arrived: () => {
          this.wake();
        },
        statistics: (client, statistics) => {
          if (client === this.#client) this.#observe(statistics);
        },
      });
    const { client, metadata } = await connect(create, cluster, signal, report);
    watchConnections(client, (refusal) => {
      if (client === this.#client) this.#refused(refusal);
    });
    this.#client = client;
    this.#statistics = { connected: true, partitions: new Map() };
    this.#topics.start(metadata.brokers);
    client.subscribe([...topics]);
  }

  #observe(statistics: Statistics): void {
    this.#statistics = statistics;
    this.#cutOff = statistics.connected ? 0 : this.#cutOff + 1;
    if (statistics.connected) this.#refusedSince = null;
    if (this.#cutOff >= CUT_OFF_REPORTS) this.#rejoin('the consumer has found no broker for a while and connects anew');
  }

  /** Gives up the client, and what the group has given with it, for a new one. */
  #rejoin(reason: string): void {
    const client = this.#client;
    if (!client) return;
    this.#client = null;
    this.#cutOff = 0;
    this.#statistics = { connected: false, partitions: new Map() };
    this.#options.report(new ClientError(reason, 'retriable', 0));
    const replaced = this.#replace(client).catch((error: unknown) => {
      if (this.#ended.signal.aborted) return;
      this.#failure = classify(error, 'joining the group again');
      this.wake();
    });
    this.#replacing = Promise.all([this.#replacing, replaced]);
  }

  async #replace(client: ConsumerClient): Promise<void> {
    const given = [...this.#given.values()];
    this.#given.clear();
    // From when it has agreed on, it asks nothing of the client any more.
    await this.#listener?.lost(given);
    await this.#consuming;
    this.#replacing = Promise.all([this.#replacing, disconnected(client)]);
    await this.#join(this.#ended.signal);
  }

  /** A broker that goes down may refuse once; when all of them do so for a while, nothing will change by itself. */
  #refused(refusal: ClientError): void {
    const now = performance.now();
    this.#refusedSince ??= now;
    if (now - this.#refusedSince < REFUSED_MS) return;
    this.#failure = refusal;
    this.wake();
  }

  /** The member that offsets are sent for. @throws ClientError of kind `stale` where there is none. */
  get client(): ConsumerClient {
    if (!this.#client) throw new ClientError('the consumer is not a member of the group', 'stale', 0);
    return this.#client;
  }

  async poll(maxRecords: number, waitMs: number): Promise<Polled> {
    if (this.#failure) throw this.#failure;
    this.#signalled = false;
    const polled = await this.#consume(maxRecords);
    if (polled.records.length > 0 || polled.ends.length > 0 || waitMs <= 0) return polled;
    if (!(await this.#signal(waitMs))) return polled;
    this.#signalled = false;
    return this.#consume(maxRecords);
  }

  async idle(waitMs: number): Promise<Polled> {
    if (this.#failure) throw this.#failure;
    await this.#signal(waitMs);
    this.#signalled = false;
    return this.#consume(1);
  }

  /** Resolves to true when there may be something to consume. */
  #signal(waitMs: number): Promise<boolean> {
    if (this.#signalled) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#awaken = null;
        resolve(false);
      }, waitMs);
      this.#awaken = () => {
        clearTimeout(timer);
        this.#awaken = null;
        resolve(true);
      };
    });
  }

  wake(): void {
    this.#signalled = true;
    this.#awaken?.();
  }

  async #consume(maxRecords: number): Promise<Polled> {
    const client = this.#client;
    if (!client) return { records: [], ends: [] };
    // With a timeout above 0 a steady trickle would keep the call from returning until it has maxRecords.
    const consuming = promised<Polled>((done) => {
      client.getClient().consume(0, maxRecords, false, (error, records, ends) => {
        done(error, { records, ends });
      });
    });
    this.#consuming = consuming.catch(() => undefined); // told below
    try {
      return await consuming;
    } catch (error) {
      const failure = classify(error, 'consumer');
      if (failure.kind === 'out-of-range') throw failure;
      if (failure.kind === 'denied') throw await explained(failure, client, this.#options.needs);
      // The rest (a broker is gone, max.poll.interval.ms was exceeded, …) the client recovers from by itself, or it
      // is followed by a rebalance; a fatal one is not survived.
      if (failure.kind === 'fatal' && failure.code === FATAL) this.#fenced(failure);
      else this.#options.report(failure);
      return { records: [], ends: [] };
    }
  }

  /**
   * The client's fatal error. A static member has no other than FENCED_INSTANCE_ID (KIP-345): the group knows another
   * member by its name. That may have been itself: a request to join whose answer got lost with a broker makes the next
   * one look like a rival's. So it joins again, which a rival does not let stand for long.
   */
  #fenced(failure: ClientError): void {
    const { instanceId, needs } = this.#options;
    if (instanceId === null) throw failure;
    const now = performance.now();
    this.#fences = [...this.#fences.filter((at) => now - at < FENCES_MS), now];
    if (this.#fences.length < MAX_FENCES) {
      this.#rejoin(`group ${needs.groupId} knows another member as group.instance.id ${instanceId}; joining it anew`);
      return;
    }
    throw new ClientError(
      `another process has joined group ${needs.groupId} as group.instance.id ${instanceId}: two instances run under one name. ` +
        `Give each its own "instance" in the configuration (this one stops, the other goes on)`,
      'fenced',
      FATAL,
    );
  }

  async #rebalance(client: ConsumerClient, code: number, partitions: TopicPartition[]): Promise<void> {
    const listener = this.#listener;
    if (!listener) return;
    try {
      if (client !== this.#client) {
        decline(client, code, partitions);
        return;
      }
      if (code === ASSIGN) {
        this.#cooperative = client.rebalanceProtocol() === 'COOPERATIVE';
        for (const partition of partitions) this.#given.set(partitionId(partition), partition);
        const start = await listener.assigned(partitions);
        if (client !== this.#client) decline(client, code, partitions);
        else if (this.#cooperative) client.incrementalAssign(start);
        else client.assign(start);
        return;
      }
      if (code !== REVOKE || client.assignmentLost()) await listener.lost(partitions);
      else await listener.revoked(partitions);
      if (client !== this.#client) {
        decline(client, code, partitions);
        return;
      }
      for (const partition of partitions) this.#given.delete(partitionId(partition));
      if (this.#cooperative && code === REVOKE) client.incrementalUnassign(partitions);
      else client.unassign();
    } catch (error) {
      if (client !== this.#client) return;
      // The listener failed, or the client refused its answer: the group can't be answered any more.
      this.#failure = classify(error, 'rebalance');
      this.wake();
    }
  }

  async committed(partitions: readonly TopicPartition[]): Promise<TopicPartitionOffset[]> {
    if (partitions.length === 0) return [];
    const [committed] = await Promise.all([committedOffsets(this.client, partitions), this.#topics.lookSoon()]);
    for (const { topic, metadata } of committed) this.#topics.committed(topic, metadata);
    return committed;
  }

  async isAdded({ topic, partition }: TopicPartition): Promise<boolean> {
    await this.committed([{ topic, partition: 0 }]); // whoever has begun has begun with that one, too
    return this.#topics.isAdded({ topic, partition });
  }

  /** What is committed by {@link client}, with what those who come after have to know. */
  toCommit(offsets: readonly TopicPartitionOffset[]): CommittedOffset[] {
    return offsets.map((offset) => ({ ...offset, metadata: this.#topics.metadata(offset.topic) }));
  }

  async log(partition: TopicPartition): Promise<PartitionLog> {
    return partitionLog(this.client, partition);
  }

  async seek(positions: readonly TopicPartitionOffset[]): Promise<void> {
    if (positions.length > 0) await seekAll(this.client, positions);
  }

  restart(positions: readonly TopicPartitionOffset[]): void {
    const { client } = this;
    // To the client it would be the answer, before the transaction has ended.
    if (this.#unanswered > 0 || client.assignmentLost()) {
      throw new ClientError('the group shares out partitions anew', 'retriable', 0);
    }
    assignAgain(client, positions, this.#cooperative);
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.#client?.pause(partitions);
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.#client?.resume(partitions);
  }

  fetched({ topic, partition }: TopicPartition): FetchState | undefined {
    return this.#statistics.partitions.get(topic)?.get(partition);
  }

  unreached(): string | null {
    return this.#statistics.connected ? null : this.#options.cluster.bootstrapServers;
  }

  async close(): Promise<void> {
    this.#ended.abort(new Error('closed'));
    this.#topics.close();
    await this.#replacing;
    if (this.#client) await disconnected(this.#client);
  }
}

const ASSIGN = -175;
const REVOKE = -174;

/** Answers a client that has been given up: without an answer it would not end. */
function decline(client: ConsumerClient, code: number, partitions: readonly TopicPartition[]): void {
  const protocol = client.rebalanceProtocol();
  // While it closes it takes nothing but this.
  if (protocol === 'NONE') client.unassign();
  else if (code === ASSIGN && protocol === 'COOPERATIVE') client.incrementalAssign([]);
  else if (code === ASSIGN) client.assign([]);
  else if (code === REVOKE && protocol === 'COOPERATIVE') client.incrementalUnassign(partitions);
  else client.unassign();
}
