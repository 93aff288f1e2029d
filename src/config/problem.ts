/** A place in the configuration file, both counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** One thing that is wrong with a configuration, and what to do about it. */
export interface Problem {
  /** The file as the caller named it. */
  readonly file: string;
  /** Null where the file as a whole is meant, such as one that does not exist. */
  readonly place: Place | null;
  /** The field, such as `pipelines.route-flights.retry.maxDelay`; empty for the file as a whole. */
  readonly path: string;
  /** What stands there, secrets hidden; null where nothing stands there. */
  readonly found: string | null;
  /** What is allowed, or the remedy. */
  readonly message: string;
}

function describe({ file, place, path, found, message }: Problem): string {
  const where = place ? `${file}:${place.line}:${place.column}` : file;
  const what = found === null ? message : `found ${found}, ${message}`;
  return path ? `${where}  ${path}: ${what}` : `${where}  ${what}`;
}

function inOrder(a: Problem, b: Problem): number {
  return (a.place?.line ?? 0) - (b.place?.line ?? 0) || (a.place?.column ?? 0) - (b.place?.column ?? 0);
}

/** A configuration that can not be used. The message has one line a problem, in the file's order, fit to print. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const sorted = [...problems].sort(inOrder);
    super(sorted.map(describe).join('\n'));
    this.name = 'ConfigError';
    this.problems = sorted;
  }

  override toString(): string {
    return this.message;
  }
}
