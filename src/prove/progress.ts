import type { WriteStream } from 'node:tty';

/** Where nobody watches, a line this often is enough. */
const PLAIN_EVERY_MS = 10_000;

/** One line about how far it is: written over in a terminal, written again now and then elsewhere. */
export class Progress {
  readonly #stream: WriteStream | NodeJS.WritableStream;
  #shownAt = -Infinity;

  constructor(stream: WriteStream | NodeJS.WritableStream) {
    this.#stream = stream;
  }

  get #isTerminal(): boolean {
    return 'isTTY' in this.#stream && this.#stream.isTTY;
  }

  show(line: string): void {
    if (this.#isTerminal) {
      this.#stream.write(`\r\u001b[2K${line}`);
      return;
    }
    if (performance.now() < this.#shownAt + PLAIN_EVERY_MS) return;
    this.#shownAt = performance.now();
    this.#stream.write(`${line}\n`);
  }

  /** Leaves room for something else. */
  clear(): void {
    if (this.#isTerminal) this.#stream.write('\r\u001b[2K');
  }
}
