import type { Worker } from './worker.ts';

/** A worker that was killed, and when, in milliseconds since the epoch. */
export interface Kill {
  readonly instance: string;
  readonly at: number;
}

/** More workers than this that end by themselves, and the proof is given up. */
const MAX_COLLAPSES = 5;

/** The workers of a proof: who is there, who was, and what was done to them. */
export class Crew {
  readonly kills: Kill[] = [];
  /** What workers said last that ended by themselves. */
  readonly collapses: string[] = [];
  freezes = 0;
  readonly #launch: (instance: string) => Worker;
  readonly #present = new Map<string, Worker>();
  readonly #all: Worker[] = [];
  #isDismissed = false;

  constructor(launch: (instance: string) => Worker) {
    this.#launch = launch;
  }

  get present(): readonly Worker[] {
    return [...this.#present.values()];
  }

  /** All there were. */
  get all(): readonly Worker[] {
    return this.#all;
  }

  get isCollapsing(): boolean {
    return this.collapses.length > MAX_COLLAPSES;
  }

  /** Of those who are there, or of the last one there was. */
  get lastWords(): string {
    const workers = this.present.length > 0 ? this.present : this.#all.slice(-1);
    return workers.map(({ instance, lastWords }) => `${instance}: ${lastWords}`).join('; ');
  }

  start(instance: string): void {
    if (this.#isDismissed) return;
    const worker = this.#launch(instance);
    this.#present.set(instance, worker);
    this.#all.push(worker);
    void worker.ended.then(() => {
      if (this.#present.get(instance) === worker) this.#present.delete(instance);
      if (worker.isDismissed) return;
      this.collapses.push(worker.lastWords);
      if (!this.isCollapsing) this.start(instance);
    });
  }

  /** SIGKILL, and a successor of the same name. */
  async kill(worker: Worker): Promise<void> {
    this.kills.push({ instance: worker.instance, at: Date.now() });
    await worker.kill();
    this.start(worker.instance);
  }

  async freeze(worker: Worker, seconds: number): Promise<void> {
    this.freezes++;
    await worker.freeze(seconds);
  }

  /** SIGTERM to all; resolves when they have ended, by SIGKILL those that take longer than `patienceMs`. */
  async dismiss(patienceMs: number): Promise<void> {
    this.#isDismissed = true;
    const hurry = setTimeout(() => {
      for (const worker of this.present) void worker.kill();
    }, patienceMs);
    await Promise.all(
      this.present.map((worker) => {
        worker.thaw();
        return worker.stop();
      }),
    );
    clearTimeout(hurry);
  }
}
