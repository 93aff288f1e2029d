import type { RebalanceListener, TopicPartition, TopicPartitionOffset } from './ports.ts';

export type Rebalance =
  | { kind: 'assigned'; partitions: TopicPartition[]; answer: (start: TopicPartitionOffset[]) => void }
  | { kind: 'revoked' | 'lost'; partitions: TopicPartition[]; answer: () => void };

/** Keeps what the group asks until the loop has a transaction boundary to answer it at. */
export class Rebalances implements RebalanceListener {
  readonly #wake: () => void;
  #waiting: Rebalance[] = [];
  #closed = false;

  constructor(wake: () => void) {
    this.#wake = wake;
  }

  assigned(partitions: TopicPartition[]): Promise<TopicPartitionOffset[]> {
    return new Promise((answer) => {
      this.#add({ kind: 'assigned', partitions, answer });
    });
  }

  revoked(partitions: TopicPartition[]): Promise<void> {
    return new Promise((answer) => {
      this.#add({ kind: 'revoked', partitions, answer });
    });
  }

  /** With the partitions goes whatever the group asked before and has no answer to yet. */
  lost(partitions: TopicPartition[]): Promise<void> {
    this.#dismiss();
    return new Promise((answer) => {
      this.#add({ kind: 'lost', partitions, answer });
    });
  }

  #add(rebalance: Rebalance): void {
    if (this.#closed) {
      dismiss(rebalance);
      return;
    }
    this.#waiting.push(rebalance);
    this.#wake();
  }

  /** The one to answer next; it stays until `answered()`. */
  get next(): Rebalance | undefined {
    return this.#waiting[0];
  }

  answered(rebalance: Rebalance): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting !== rebalance);
  }

  /** From now on nothing is open any more: revocations are agreed to at once, assignments left unread. */
  close(): void {
    this.#closed = true;
    this.#dismiss();
  }

  #dismiss(): void {
    for (const rebalance of this.#waiting) dismiss(rebalance);
    this.#waiting = [];
  }
}

function dismiss(rebalance: Rebalance): void {
  if (rebalance.kind === 'assigned') rebalance.answer([]);
  else rebalance.answer();
}
