import type { DestinationStream } from 'pino';

/** A destination that keeps what was logged. */
export class LogLines implements DestinationStream {
  readonly written: string[] = [];

  write(line: string): void {
    this.written.push(line);
  }

  /** The lines as JSON objects. */
  parsed(): Record<string, unknown>[] {
    return this.written.map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}
