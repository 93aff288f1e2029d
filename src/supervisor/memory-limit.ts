/** The least age at which a process is replaced, and the most to which that grows. */
const MIN_AGE_MS = 10_000;
const MAX_AGE_MS = 3_600_000;

export type MemoryVerdict =
  | { readonly kind: 'fine' }
  | { readonly kind: 'replace' }
  /** Over the limit before it was old enough: the limit is too low, or it grows fast. Said once a process. */
  | { readonly kind: 'too-soon'; readonly waitMs: number };

const FINE: MemoryVerdict = { kind: 'fine' };

/**
 * When the memory of a worker calls for a new process. A limit below what a process needs from the start would have it
 * replaced for ever, to no avail: a process that passes the limit early has to reach an age first, and that age doubles
 * with each such process in a row.
 */
export class MemoryLimit {
  readonly #maxBytes: number;
  #minAgeMs = MIN_AGE_MS;
  #isEarly = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** `ageMs` is the age of the process that holds `residentBytes`. */
  judge(residentBytes: number, ageMs: number): MemoryVerdict {
    if (residentBytes <= this.#maxBytes) return FINE;
    if (ageMs >= this.#minAgeMs) return { kind: 'replace' };
    if (this.#isEarly) return FINE;
    this.#isEarly = true;
    return { kind: 'too-soon', waitMs: this.#minAgeMs - ageMs };
  }

  /** A new process takes the place of one that was judged. */
  replaced(): void {
    this.#minAgeMs = this.#isEarly ? Math.min(MAX_AGE_MS, this.#minAgeMs * 2) : MIN_AGE_MS;
    this.#isEarly = false;
  }
}
