/** Errors of the loop itself. What the user's code and the serdes throw comes with their own types. */

/** The pipeline can't go on; the process ends with a code other than 0. The message is written for an operator. */
export class PipelineFailed extends Error {
  override readonly name = 'PipelineFailed';
  /** Whether a new process would fail alike, since what is wrong lies outside of this one. */
  readonly isFinal: boolean;

  constructor(message: string, { cause, isFinal = true }: { cause?: unknown; isFinal?: boolean } = {}) {
    super(message, { cause });
    this.isFinal = isFinal;
  }
}

/** A record that the client or the broker refuses to take. */
export class RecordRejected extends Error {
  override readonly name = 'RecordRejected';
}

/** An output larger than the client takes, or than its topic takes. */
export class RecordTooLarge extends Error {
  override readonly name = 'RecordTooLarge';
}

/** The transform held the event loop for longer than the group waits, again and again. */
export class TransformTooSlow extends Error {
  override readonly name = 'TransformTooSlow';
}
