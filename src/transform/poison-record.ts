/** Shared by every copy of this package, which `instanceof` is not: a transform may have one of its own in node_modules. */
const BRAND = Symbol.for('millrace.PoisonRecord');

/** Thrown by a transform for a record that no further try can help: it becomes a dead letter at once. */
export class PoisonRecord extends Error {
  override readonly name = 'PoisonRecord';
  readonly [BRAND] = true;

  /** The reason is written into the dead letter. */
  constructor(reason: string, { cause }: { cause?: unknown } = {}) {
    super(reason, cause === undefined ? undefined : { cause });
  }
}

export function isPoisonRecord(error: unknown): boolean {
  return typeof error === 'object' && error !== null && BRAND in error;
}
