import { setTimeout as delay } from 'node:timers/promises';
import type { EffectConfig } from '../config/compiled.ts';
import { PipelineFailed } from '../pipeline/errors.ts';
import type { Observer } from '../pipeline/observer.ts';
import type { Target } from '../pipeline/processor.ts';
import { retryDelay } from '../pipeline/retry.ts';
import { toError } from '../transform/errors.ts';
import { type Adapter, EffectFailure } from './adapter.ts';

/** An adapter's life around the lanes: opened before the group is joined, however long the target takes to come up. */
export class EffectTarget implements Target {
  readonly patienceMs: number;
  readonly #config: EffectConfig;
  readonly #adapter: Adapter;
  readonly #observer: Observer;
  #unready: string | null = null;

  constructor(config: EffectConfig, adapter: Adapter, observer: Observer) {
    this.patienceMs = config.patienceMs;
    this.#config = config;
    this.#adapter = adapter;
    this.#observer = observer;
  }

  get unready(): string | null {
    return this.#unready;
  }

  async open(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(toError(signal.reason)), { once: true });
    });
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      try {
        await Promise.race([this.#adapter.open(), aborted]);
        this.#unready = null;
        return;
      } catch (thrown) {
        signal.throwIfAborted();
        const error = toError(thrown);
        if (!(error instanceof EffectFailure) || error.kind !== 'transient') {
          throw new PipelineFailed(`effect ${this.#config.name}: ${error.message}`, { cause: error });
        }
        this.#unready = `waits for its target: ${error.message}`;
        this.#observer.clientError('target', error);
        const pause = Math.max(retryDelay(this.#config.retry, attempt), error.retryAfterMs ?? 0);
        await delay(pause, undefined, { signal });
      }
    }
  }

  async close(): Promise<void> {
    await this.#adapter.close();
  }
}
