import type { GroupOffsets } from '../kafka/group-offsets.ts';
import { ClientError, type TopicPartition, partitionId } from '../pipeline/ports.ts';

const ASK_EVERY_MS = 500;

/** Keeps an eye on what the group has committed of the input. */
export class Watch {
  /** The next offset, by partition; a partition without a commit is left out. */
  committed: ReadonlyMap<string, number> = new Map();
  /** `performance.now()` when it last moved. */
  movedAt = performance.now();
  readonly #offsets: GroupOffsets;
  readonly #partitions: readonly TopicPartition[];
  readonly #seen: () => void;
  readonly #timer: NodeJS.Timeout;
  #asking: Promise<void> = Promise.resolve();
  #isAsking = false;

  /** `seen` is called after each answer. */
  constructor(offsets: GroupOffsets, partitions: readonly TopicPartition[], seen: () => void) {
    this.#offsets = offsets;
    this.#partitions = partitions;
    this.#seen = seen;
    this.#timer = setInterval(() => {
      if (!this.#isAsking) this.#asking = this.#ask();
    }, ASK_EVERY_MS);
  }

  /** Records that are done with. Copies begin at 0 and have no gaps. */
  get total(): number {
    return [...this.committed.values()].reduce((sum, offset) => sum + offset, 0);
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    const before = this.total;
    try {
      const found = await this.#offsets.committed(this.#partitions);
      this.committed = new Map(found.map((committed) => [partitionId(committed), committed.offset]));
    } catch (error) {
      // The coordinator is away, or moves: the next answer counts.
      if (!(error instanceof ClientError)) throw error;
    } finally {
      this.#isAsking = false;
    }
    if (this.total !== before) this.movedAt = performance.now();
    this.#seen();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#asking;
    await this.#offsets.close();
  }
}
