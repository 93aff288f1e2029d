/** One at a time: workers that are replaced for their memory do not all pause at once. */
export class Turn {
  #holder: object | null = null;

  /** False while it is another's. */
  take(by: object): boolean {
    this.#holder ??= by;
    return this.#holder === by;
  }

  /** Does nothing where it is another's. */
  release(by: object): void {
    if (this.#holder === by) this.#holder = null;
  }
}
