import { ClientError } from '../../../src/pipeline/ports.ts';
import type {
  Consumer,
  FetchState,
  InputRecord,
  PartitionLog,
  Polled,
  RebalanceListener,
  TopicPartition,
  TopicPartitionOffset,
} from '../../../src/pipeline/ports.ts';

const id = ({ topic, partition }: TopicPartition): string => `${topic}-${partition}`;

/** A consumer that answers what the test has put there. It knows nothing of Kafka: for rules of the loop itself. */
export class ScriptedConsumer implements Consumer {
  readonly offsets = new Map<string, number>();
  /** Partitions that the topic did not have when the group began to read it. */
  readonly added = new Set<string>();
  readonly logs = new Map<string, { logStart: number; lastStable: number }>();
  readonly reports = new Map<string, FetchState>();
  readonly seeks: TopicPartitionOffset[] = [];
  readonly paused = new Set<string>();
  /** Where reading has stopped: no seek helps there. */
  readonly stopped = new Set<string>();
  /** Whose logs no broker tells of. */
  readonly unanswered = new Set<string>();
  /** What a question about a log is answered with instead. */
  refusal: ClientError | null = null;
  /** What the next poll returns. */
  arriving: InputRecord[] = [];
  /** What the next poll throws, once. */
  complaint: ClientError | null = null;
  missingBrokers: string | null = null;
  /** Whether it can tell the committed offsets. */
  isAnswering = true;
  #listener: RebalanceListener | null = null;
  #awaken: () => void = () => undefined;

  async start(listener: RebalanceListener): Promise<void> {
    this.#listener = listener;
  }

  /** The group's side of a rebalance. */
  get group(): RebalanceListener {
    if (!this.#listener) throw new Error('the consumer was not started');
    return this.#listener;
  }

  async poll(_maxRecords: number, waitMs: number): Promise<Polled> {
    if (this.arriving.length === 0) await this.#wait(waitMs);
    const { complaint } = this;
    this.complaint = null;
    if (complaint) throw complaint;
    return { records: this.arriving.splice(0), ends: [] };
  }

  async idle(waitMs: number): Promise<Polled> {
    await this.#wait(waitMs);
    return { records: [], ends: [] };
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#awaken = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  wake(): void {
    this.#awaken();
  }

  async committed(partitions: readonly TopicPartition[]): Promise<TopicPartitionOffset[]> {
    if (!this.isAnswering) throw new ClientError('no answer', 'retriable', 0);
    return partitions.map(({ topic, partition }) => ({
      topic,
      partition,
      offset: this.offsets.get(id({ topic, partition })) ?? -1,
    }));
  }

  async isAdded(partition: TopicPartition): Promise<boolean> {
    return this.added.has(id(partition));
  }

  async log({ topic, partition }: TopicPartition): Promise<PartitionLog> {
    if (this.refusal) throw this.refusal;
    if (this.unanswered.has(id({ topic, partition }))) return new Promise(() => undefined);
    return { topic, partition, ...(this.logs.get(id({ topic, partition })) ?? { logStart: 0, lastStable: 0 }) };
  }

  async seek(positions: readonly TopicPartitionOffset[]): Promise<void> {
    if (positions.some((position) => this.stopped.has(id(position)))) throw new ClientError('no seek', 'fatal', -172);
    this.seeks.push(...positions);
  }

  restart(positions: readonly TopicPartitionOffset[]): void {
    for (const position of positions) this.stopped.delete(id(position));
    this.seeks.push(...positions);
  }

  pause(partitions: readonly TopicPartition[]): void {
    for (const partition of partitions) this.paused.add(id(partition));
  }

  resume(partitions: readonly TopicPartition[]): void {
    for (const partition of partitions) this.paused.delete(id(partition));
  }

  fetched(partition: TopicPartition): FetchState | undefined {
    return this.reports.get(id(partition));
  }

  unreached(): string | null {
    return this.missingBrokers;
  }

  async close(): Promise<void> {
    // Nothing is open.
  }
}
