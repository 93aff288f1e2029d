import type { Socket } from 'node:net';

export interface Slowness {
  /** Each message arrives so much later, at least and at most. */
  readonly latencyMs: readonly [least: number, most: number];
  readonly bytesPerSecond: number;
  /** A number from 0 to 1, drawn for each message. */
  readonly draw: () => number;
}

/** One direction of a connection: bytes arrive in their order, late while the line is slow. */
export class Line {
  readonly #to: Socket;
  readonly #slowness: () => Slowness | null;
  #waiting: { readonly bytes: Buffer; readonly at: number }[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(to: Socket, slowness: () => Slowness | null) {
    this.#to = to;
    this.#slowness = slowness;
    to.once('close', () => {
      if (this.#timer) clearTimeout(this.#timer);
      this.#waiting = [];
    });
  }

  send(bytes: Buffer): void {
    const slowness = this.#slowness();
    if (!slowness && this.#waiting.length === 0) {
      this.#to.write(bytes);
      return;
    }
    const last = this.#waiting.at(-1)?.at ?? 0;
    this.#waiting.push({
      bytes,
      at: Math.max(last, performance.now() + latency(slowness)) + transfer(bytes, slowness),
    });
    this.#timer ??= this.#later();
  }

  #later(): NodeJS.Timeout | null {
    const [next] = this.#waiting;
    return next ? setTimeout(() => this.#deliver(), next.at - performance.now()) : null;
  }

  #deliver(): void {
    const next = this.#waiting.shift();
    if (next) this.#to.write(next.bytes);
    this.#timer = this.#later();
  }
}

function latency(slowness: Slowness | null): number {
  if (!slowness) return 0;
  const [least, most] = slowness.latencyMs;
  return least + slowness.draw() * (most - least);
}

function transfer({ length }: Buffer, slowness: Slowness | null): number {
  return slowness ? (length / slowness.bytesPerSecond) * 1_000 : 0;
}
