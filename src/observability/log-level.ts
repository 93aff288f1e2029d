import { levels } from 'pino';
import type { CompiledConfig } from '../config/compiled.ts';

export type Level = CompiledConfig['log']['level'];

/** The least severe level that is printed, which a running process can be told to change. */
export class LogLevel {
  current: Level;
  readonly #configured: Level;

  constructor(configured: Level) {
    this.#configured = configured;
    this.current = configured;
  }

  /** What another signal makes of it: debug, or from there what is configured; info where that is debug, too. */
  get next(): Level {
    if (this.current !== 'debug') return 'debug';
    return this.#configured === 'debug' ? 'info' : this.#configured;
  }

  /** Whether a line is printed, by pino's number for its level. */
  admits(severity: number): boolean {
    return severity >= (levels.values[this.current] ?? 0);
  }
}
