/** Names that come from users' code, such as error types: the first ones are kept, the rest share `other`, so memory stays bounded. */
export class BoundedLabel {
  readonly #known = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  of(name: string): string {
    if (this.#known.size < this.#max) this.#known.add(name);
    return this.#known.has(name) ? name : 'other';
  }
}
