import { Presets, SingleBar } from 'cli-progress';

/** A bar in a terminal, a line every few seconds elsewhere. */
export class Progress {
  readonly #bar: SingleBar;
  readonly #total: number;
  #committed = 0;

  constructor(total: number) {
    const format = process.stderr.isTTY ? '  {bar} {value}/{total} committed' : 'committed: {value} of {total}';
    this.#bar = new SingleBar({ format, noTTYOutput: true, notTTYSchedule: 3_000, hideCursor: true }, Presets.rect);
    this.#total = total;
    this.#bar.start(total, 0);
  }

  update(committed: number): void {
    this.#committed = committed;
    this.#bar.update(committed);
  }

  /** Prints a line and goes on below it. */
  say(line: string): void {
    this.#bar.stop();
    console.log(line);
    this.#bar.start(this.#total, this.#committed);
  }

  stop(): void {
    this.#bar.stop();
  }
}
