import type { Logger } from './observability/logger.ts';

export interface ShutdownOptions {
  logger: Logger;
  /** How long the stop in order may take. */
  graceMs: number;
  /** Begins to stop in order. */
  stop: () => void;
  /** Does first what can't be left to the end of this process, when it has to end at once. */
  abandon?: () => void;
}

/** How a process ends: in order within the grace at a first signal, at once at a second one or where nothing is known any more. */
export class Shutdown {
  readonly #options: ShutdownOptions;
  #isUnderWay = false;

  constructor(options: ShutdownOptions) {
    this.#options = options;
    const onSignal = (signal: string) => {
      if (!this.#isUnderWay) {
        this.begin(signal);
        return;
      }
      options.logger.warn({ why: signal }, 'stops at once; what is open is left to the broker');
      this.#die();
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
    // A promise that nobody waits for, in a transform for one: what state things are in is unknown, so this ends here.
    process.on('uncaughtException', (err) => {
      options.logger.fatal({ err }, 'an error that nothing was there to catch; what is open is left to the broker');
      this.#die();
    });
  }

  /** Does nothing where it has begun. */
  begin(why: string): void {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    const { logger, graceMs, stop } = this.#options;
    logger.info({ why, graceMs }, 'stops: finishes the open transactions');
    stop();
    setTimeout(() => {
      logger.error({ graceMs }, 'could not finish within shutdown.grace; what is open is left to the broker');
      this.#die();
    }, graceMs).unref();
  }

  #die(): void {
    this.#options.abandon?.();
    die();
  }
}

/**
 * Ends the process whatever it is in the middle of. `process.exit` would wait for calls into the client to return, and
 * some of them ignore their time-out while a broker is down. The exit status is 137, as for any process killed so.
 */
export function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // Still here: process 1 of a container, which no signal of its own ends. The exit status is another one, then.
  process.abort();
}
