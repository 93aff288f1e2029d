/** Notices that the process stood still: stopped, suspended, or its event loop held by the transform. */
export class FreezeWatch {
  readonly #limitMs: number;
  #beat = performance.now();
  #timer: NodeJS.Timeout | null = null;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  start(): void {
    this.#beat = performance.now();
    this.#timer = setInterval(() => {
      // A beat that comes late is left to check(): the loop may run before this timer does, or after.
      if (performance.now() - this.#beat < this.#limitMs) this.#beat = performance.now();
    }, this.#limitMs / 10);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  /** Whether the process stood still for longer than the limit since the last check; asks once per freeze. */
  check(): boolean {
    const now = performance.now();
    const frozen = now - this.#beat >= this.#limitMs;
    if (frozen) this.#beat = now;
    return frozen;
  }
}
