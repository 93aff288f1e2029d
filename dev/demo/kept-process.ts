import type { Processor } from '../../test/helpers/processor.ts';
import { waitFor } from '../../test/helpers/wait.ts';
import type { Victim, Witness } from './kills.ts';

/** How often it may end without being asked to and by no signal, before that is a failure. */
const ENDS = 5;

/** A process of millrace that is started again whenever it ends. */
export interface KeptProcess {
  /** The one that runs now, or is about to be followed by another one. */
  readonly processor: Processor;
  /** How many there have been. */
  readonly starts: number;
  /** `performance.now()` at the last of them. */
  readonly startedAt: number;
  /** Throws where it is not started any more. */
  check(): void;
  /** SIGKILL, then a look at what it left, before it is started again. Gives false where somebody was quicker. */
  crash(look: () => Promise<void>): Promise<boolean>;
  /** Has it end in order, for good. */
  stop(): Promise<void>;
  /** SIGKILL, for good. */
  kill(): Promise<void>;
}

export function keepRunning(start: () => Processor, victim: Victim, witness: Witness): KeptProcess {
  let processor = start();
  let starts = 1;
  let startedAt = performance.now();
  let ends = 0;
  let isOver = false;
  /** The demo's own kill, if the next end is one, and the look behind it. */
  let crashing: Promise<void> | null = null;
  let failure: Error | null = null;
  const tell = () => witness.started(victim, `kill -9 ${processor.pid}`);
  const untilExit = () => waitFor('its end', () => processor.exit ?? undefined, { timeoutMs: Infinity });

  async function keep(): Promise<void> {
    for (;;) {
      const { code, signal } = await untilExit();
      if (isOver) return;
      if (crashing) {
        await crashing.catch(() => undefined); // the error is for whoever had it killed
        crashing = null;
        if (isOver) return;
      } else if (signal !== null) {
        witness.killed({ victim, by: 'somebody else' });
      } else {
        witness.ended(victim, `exit code ${code}: ${processor.log.at(-1) ?? 'it said nothing'}`);
        if (++ends > ENDS) {
          failure = new Error(`it ends again and again\n${processor.lastWords()}`);
          return;
        }
      }
      processor = start();
      starts++;
      startedAt = performance.now();
      tell();
    }
  }

  tell();
  void keep();

  return {
    get processor() {
      return processor;
    },
    get starts() {
      return starts;
    },
    get startedAt() {
      return startedAt;
    },
    check() {
      if (failure) throw failure;
    },
    async crash(look) {
      if (processor.exit !== null) return false;
      crashing = processor.crash().then(look);
      await crashing;
      return true;
    },
    async stop() {
      isOver = true;
      processor.signal('SIGTERM');
      const { code, signal } = await processor.untilExit({ timeoutMs: 60_000 });
      // Whoever stops it has seen that all is done: nothing is left to another one.
      if (signal !== null) witness.killed({ victim, by: 'somebody else' });
      else if (code !== 0) throw new Error(`it did not end well\n${processor.lastWords()}`);
    },
    async kill() {
      isOver = true;
      await processor.kill();
    },
  };
}
