import type { Processor } from '../../test/helpers/processor.ts';
import type { Witness } from './kills.ts';

/** What a supervisor logs when a worker has ended and is to be started again. */
interface Obituary {
  readonly worker: number;
  readonly msg: string;
  readonly restart: number;
}

/** Tells of the workers that their supervisors found dead and that the demo has not killed. */
export class DeadWorkers {
  readonly #witness: Witness;
  /** How many lines of each supervisor's log were read. */
  readonly #read = new Map<Processor, number>();
  /** Numbers of workers that the demo has killed and whose end is not in the log yet. */
  readonly #ours: number[] = [];

  constructor(witness: Witness) {
    this.#witness = witness;
  }

  watch(supervisor: Processor): void {
    this.#read.set(supervisor, 0);
  }

  /** The next end of that worker is the demo's doing. */
  expect(worker: number): void {
    this.#ours.push(worker);
  }

  /** Reads what is new in the logs. */
  look(): void {
    for (const [{ log }, read] of this.#read) {
      for (const line of log.slice(read)) if (line.includes('"restart":')) this.#tell(JSON.parse(line) as Obituary);
    }
    for (const supervisor of this.#read.keys()) this.#read.set(supervisor, supervisor.log.length);
  }

  #tell({ worker, msg }: Obituary): void {
    const ours = this.#ours.indexOf(worker);
    if (ours >= 0) this.#ours.splice(ours, 1);
    else if (/ was ended by SIG/.test(msg)) this.#witness.killed({ victim: 'worker', by: 'somebody else' });
    else this.#witness.ended('worker', msg);
  }
}
