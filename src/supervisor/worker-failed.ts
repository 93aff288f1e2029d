/** A worker that is not started again, and so the end of all of them. The message is written for an operator. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed';
  /** What the whole process is to exit with. */
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}
