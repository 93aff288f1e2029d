import type { Processor } from '../../helpers/processor.ts';
import type { Random } from '../../helpers/random.ts';
import type { Scenario } from '../../helpers/scenario.ts';

/** The processes of a run, by instance. As an orchestrator would, it starts again what has ended. */
export class Fleet {
  readonly #run: Scenario;
  readonly #processors = new Map<string, Processor>();
  /** Instances that were taken away. */
  readonly #gone = new Set<string>();
  #started = 0;
  /** Processes that ended by themselves: brokers that are away for long may make them do so. */
  exits = 0;

  constructor(run: Scenario) {
    this.#run = run;
  }

  get size(): number {
    return this.#processors.size;
  }

  pick(random: Random): readonly [instance: string, processor: Processor] {
    return random.pick([...this.#processors]);
  }

  async add(): Promise<void> {
    await this.start(`i${this.#started++}`);
  }

  async start(instance: string): Promise<void> {
    this.#processors.set(instance, await this.#run.start(instance));
  }

  forget(instance: string): void {
    this.#processors.delete(instance);
    this.#gone.add(instance);
  }

  /**
   * Brings back all that were taken away; gives how many. A broker that went down just then may have left out markers of
   * their last transactions, and nobody else ends these (KAFKA-20734; docs/reliability.md, "Limits").
   */
  async recall(): Promise<number> {
    for (const instance of this.#gone) await this.start(instance);
    return this.#gone.size;
  }

  async revive(): Promise<void> {
    for (const [instance, { exit }] of this.#processors) {
      if (exit === null) continue;
      this.exits++;
      await this.start(instance);
    }
  }

  async untilReady(): Promise<void> {
    for (const processor of this.#processors.values()) await processor.untilReady();
  }
}
