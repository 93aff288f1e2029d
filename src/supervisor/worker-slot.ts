import { setTimeout as delay } from 'node:timers/promises';
import type { CompiledConfig, FlowConfig } from '../config/compiled.ts';
import { EXIT } from '../exit-codes.ts';
import type { MetricsSnapshot } from '../observability/aggregate.ts';
import type { LogLevel } from '../observability/log-level.ts';
import type { Logger } from '../observability/logger.ts';
import type { PipelineStatus } from '../pipeline/observer.ts';
import { BackOff } from './back-off.ts';
import { MemoryLimit } from './memory-limit.ts';
import type { Turn } from './turn.ts';
import { WorkerFailed } from './worker-failed.ts';
import { type End, WorkerProcess } from './worker-process.ts';

export type RestartReason = 'crash' | 'memory';

export interface SlotOptions {
  config: CompiledConfig;
  flow: FlowConfig;
  worker: number;
  logger: Logger;
  /** From which on its processes print. */
  level: LogLevel;
  /** To be replaced for its memory. */
  turn: Turn;
  restarted: (reason: RestartReason) => void;
  /** The last metrics of a process that has ended. */
  retire: (metrics: MetricsSnapshot) => void;
}

/** A worker reports once a second. One that is silent for this long has its event loop held, or is stopped. */
const SILENT_MS = 5_000;
const MIB = 1 << 20;

/**
 * The place of one worker, which one process after another fills.
 *
 *   starting ──▶ running ──ends by itself──▶ down ──back-off──▶ starting      too often, or to no avail ──▶ WorkerFailed
 *      ▲            └── memory over the limit: a successor loads beside it, it drains and exits ──┐
 *      └──────────────────────────────────────────────────────────────────────────────────────────┘
 *
 * Two processes of one place never are in the cluster at once: they share a transactional id and a group.instance.id.
 * The successor has loaded everything when its predecessor is told to stop, and connects when that one has exited.
 */
export class WorkerSlot {
  readonly #options: SlotOptions;
  readonly #logger: Logger;
  readonly #name: string;
  readonly #backOff: BackOff;
  readonly #memory: MemoryLimit | null;
  readonly #stopped = new AbortController();
  #current: WorkerProcess | null = null;
  #standby: WorkerProcess | null = null;
  /** Why there is no process, for as long as there is none. */
  #down = '';

  constructor(options: SlotOptions) {
    const { config, flow, worker, logger } = options;
    this.#options = options;
    this.#logger = logger.child({ [flow.kind]: flow.name, worker });
    this.#name = `worker ${worker} of ${flow.kind} ${flow.name}`;
    this.#backOff = new BackOff(config.worker.restart);
    const { maxMemoryBytes } = config.worker;
    this.#memory = maxMemoryBytes === null ? null : new MemoryLimit(maxMemoryBytes);
  }

  /** Keeps a process running until `stop()`; none is left when it settles. @throws WorkerFailed */
  async run(): Promise<void> {
    let successor: WorkerProcess | null = null;
    while (!this.#isStopping) {
      const current = successor ?? this.#fork();
      this.#begin(current);
      successor = await this.#live(current);
      const end = await current.ended;
      this.#current = null;
      this.#options.retire(current.metrics);
      if (this.#isStopping) {
        // Killed it was by whoever could not wait; what it says itself is heard.
        if (end.code !== null && end.code !== EXIT.stopped)
          throw new WorkerFailed(`${this.#name} ${describe(end)}`, EXIT.failed);
        break;
      }
      if (successor) this.#replaced(end);
      else await this.#recover(end, current.ageMs);
    }
    this.#options.turn.release(this);
    await this.#standby?.ended;
  }

  /** Has the process end in order, and none follow. */
  stop(): void {
    this.#stopped.abort();
    this.#current?.stop();
    this.#standby?.kill(); // it holds nothing yet
  }

  /** Ends the process at once; what it has open is left to the broker. */
  kill(): void {
    this.#current?.kill();
    this.#standby?.kill();
  }

  /** Has its processes print by what the level is now. */
  tellLevel(): void {
    const { current } = this.#options.level;
    this.#current?.setLevel(current);
    this.#standby?.setLevel(current);
  }

  get isRunning(): boolean {
    return this.#current !== null && !this.#current.hasEnded;
  }

  status(): PipelineStatus {
    const { flow, worker } = this.#options;
    const unready = (state: PipelineStatus['state'], reason: string) => {
      return { pipeline: flow.name, worker, state, ready: false, reasons: [reason], partitions: [] };
    };
    if (!this.#current) return unready('down', this.#down);
    const { reported } = this.#current;
    if (!reported) return unready('starting', 'its process is starting');
    const silentMs = performance.now() - reported.at;
    if (silentMs < SILENT_MS) return reported.status;
    const reason = `its process has not reported for ${Math.round(silentMs / 1_000)} s`;
    return { ...reported.status, ready: false, reasons: [reason, ...reported.status.reasons] };
  }

  /** What its process has counted; waits a little for one that is slow to answer. */
  async metrics(): Promise<MetricsSnapshot> {
    const current = this.#current;
    await current?.measure();
    // One that has ended meanwhile is counted with those that are gone.
    return current !== null && current === this.#current ? current.metrics : [];
  }

  get #isStopping(): boolean {
    return this.#stopped.signal.aborted;
  }

  #fork(): WorkerProcess {
    const { config, flow, worker, level } = this.#options;
    return new WorkerProcess({ ...config, log: { ...config.log, level: level.current } }, flow, worker);
  }

  #begin(current: WorkerProcess): void {
    this.#current = current;
    this.#standby = null;
    this.#logger.info({ pid: current.pid }, 'worker starts');
    current.run();
  }

  /** Resolves when the process has ended by itself, or with its successor when it was told to make room for it. */
  async #live(current: WorkerProcess): Promise<WorkerProcess | null> {
    for (;;) {
      await this.#untilDue(current);
      if (current.hasEnded) return null;
      const successor = await this.#relieve(current);
      if (successor) return successor;
    }
  }

  /** Resolves when the process has ended, or is to be replaced and it is its turn. */
  #untilDue(current: WorkerProcess): Promise<void> {
    const { turn } = this.#options;
    return new Promise((resolve) => {
      void current.ended.then(() => resolve());
      current.onStatus = (status, residentBytes) => {
        // A successor that is ready ends the turn which its predecessor took.
        if (status.ready) turn.release(this);
        if (this.#isStopping || !this.#isOver(residentBytes, current.ageMs) || !turn.take(this)) return;
        // It is judged already, and being ready it would give back the turn that its successor needs.
        current.onStatus = () => undefined;
        resolve();
      };
    });
  }

  #isOver(residentBytes: number, ageMs: number): boolean {
    const verdict = this.#memory?.judge(residentBytes, ageMs);
    if (verdict?.kind === 'too-soon') {
      const { maxMemoryBytes } = this.#options.config.worker;
      this.#logger.error(
        { residentBytes, maxMemoryBytes, ageMs: Math.round(ageMs) },
        `worker.maxMemory is too low: this worker holds ${Math.round(residentBytes / MIB)} MiB ` +
          `${Math.round(ageMs / 1_000)} s after its start. Raise it; it is not replaced for another ${Math.ceil(verdict.waitMs / 1_000)} s, ` +
          'and for twice as long next time',
      );
    }
    return verdict?.kind === 'replace';
  }

  /** Has the process end in order as soon as a successor can follow; null where there is none, or it is not needed. */
  async #relieve(current: WorkerProcess): Promise<WorkerProcess | null> {
    const successor = this.#fork();
    this.#standby = successor;
    this.#logger.info({ pid: current.pid }, 'worker is replaced: its memory has passed worker.maxMemory');
    this.#memory?.replaced();
    await Promise.race([successor.loaded, successor.ended, current.ended]);
    if (successor.hasEnded) {
      this.#standby = null;
      this.#options.turn.release(this);
      const { lastWords } = await successor.ended;
      if (!this.#isStopping) this.#logger.error(`its successor could not load, so it goes on: ${lastWords}`);
      return null;
    }
    current.stop();
    await Promise.race([current.ended, delay(this.#options.config.shutdown.graceMs, undefined, { ref: false })]);
    if (!current.hasEnded) {
      this.#logger.error('could not finish within shutdown.grace; what is open is left to its successor');
      current.kill();
      await current.ended;
    }
    return this.#isStopping ? null : successor;
  }

  #replaced(end: End): void {
    if (end.code !== EXIT.stopped) this.#logger.warn(`${this.#name} ${describe(end)}`);
    this.#options.restarted('memory');
  }

  /** Waits before the next start. @throws WorkerFailed where there is none. */
  async #recover(end: End, lifeMs: number): Promise<void> {
    const how = `${this.#name} ${describe(end)}`;
    if (end.hope === 'unusable') throw new WorkerFailed(end.lastWords, EXIT.unusable);
    if (end.hope === 'final') throw new WorkerFailed(how, EXIT.failed);
    const waitMs = this.#backOff.next(lifeMs);
    if (waitMs === null) {
      throw new WorkerFailed(`${how}; it is given up after ${this.#backOff.inARow} restarts in a row`, EXIT.failed);
    }
    this.#down = `its process ${describe(end)}; restart ${this.#backOff.inARow} in a row`;
    this.#logger.error({ waitMs, restart: this.#backOff.inARow }, `${how}; it is started again`);
    try {
      await delay(waitMs, undefined, { signal: this.#stopped.signal });
    } catch {
      return; // stopped meanwhile
    }
    this.#options.restarted('crash');
  }
}

function describe({ code, signal, lastWords }: End): string {
  const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
  return lastWords === '' ? how : `${how}: ${lastWords}`;
}
