import type { ProcessedEvents } from './processed-events.ts';
import type { Session } from './session.ts';

export interface PruneObserver {
  pruned(fact: { readonly rows: number }): void;
  /** Nothing is lost but space; it is tried again at the next turn. */
  pruneFailed(fact: { readonly reason: unknown }): void;
}

type WithSession = <T>(work: (session: Session) => Promise<T>) => Promise<T>;

const LONGEST_PAUSE_MS = 3_600_000;

/** Deletes old event ids beside the work: at the start and then every hour, or more often where they get old sooner. */
export class Pruning {
  readonly #events: ProcessedEvents;
  readonly #olderThanMs: number;
  readonly #withSession: WithSession;
  readonly #observer: PruneObserver;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(events: ProcessedEvents, olderThanMs: number, withSession: WithSession, observer: PruneObserver) {
    this.#events = events;
    this.#olderThanMs = olderThanMs;
    this.#withSession = withSession;
    this.#observer = observer;
  }

  start(): void {
    if (this.#timer !== undefined || this.#stopped) return;
    const turn = () => {
      this.#turn = this.#turn.then(() => this.#prune());
    };
    this.#timer = setInterval(turn, Math.min(this.#olderThanMs, LONGEST_PAUSE_MS)).unref();
    turn();
  }

  /** Resolves when no deletion is under way any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#turn;
  }

  async #prune(): Promise<void> {
    let rows = 0;
    try {
      let done = false;
      // A connection for each step: the batches need them too.
      while (!done && !this.#stopped) {
        const step = await this.#withSession((session) => this.#events.prune(session, this.#olderThanMs));
        rows += step.rows;
        done = step.done;
      }
      if (rows > 0) this.#observer.pruned({ rows });
    } catch (error) {
      this.#observer.pruneFailed({ reason: error });
    }
  }
}
