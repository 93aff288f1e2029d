import cluster, { type Worker } from 'node:cluster';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { CompiledConfig, FlowConfig } from '../config/compiled.ts';
import type { MetricsSnapshot } from '../observability/aggregate.ts';
import type { Level } from '../observability/log-level.ts';
import type { PipelineStatus } from '../pipeline/observer.ts';
import type { Order, Report } from './messages.ts';

const COMMAND = fileURLToPath(new URL('../millrace.cjs', import.meta.url));
/** Lines of its standard error that are kept for its last words. */
const KEPT_LINES = 10;
/** By this V8 says why it gives up, as for want of memory. Behind it are frames of native code, more than are kept. */
const FATAL = /^FATAL ERROR: /;
/** What a process wrote before its end may be read a little after it. */
const READ_ON_MS = 200;
/** An event loop that a transform holds answers late: the scrape does with what was known before. */
const MEASURE_MS = 2_000;

export interface End {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Empty where it had none. */
  readonly lastWords: string;
  /** Whether a new process may do better. */
  readonly hope: Failed['hope'];
}

type Failed = Extract<Report, { kind: 'failed' }>;

/** A status as it came, and when: `performance.now()`. */
interface Reported {
  readonly status: PipelineStatus;
  readonly at: number;
}

/** One process of a worker, from its fork to its end. It begins to load at once, and connects when it is told to. */
export class WorkerProcess {
  readonly loaded: Promise<void>;
  readonly ended: Promise<End>;
  readonly #worker: Worker;
  readonly #startedAt = performance.now();
  readonly #stderr: string[] = [];
  #fatal = '';
  readonly #unsaid: Order[] = [];
  #isListening = false;
  #failed: Pick<Failed, 'reason' | 'hope'> = { reason: '', hope: 'restart' };
  #hasEnded = false;
  #reported: Reported | null = null;
  #metrics: MetricsSnapshot = [];
  #measured: (() => void)[] = [];
  /** Called with each status, about once a second. */
  onStatus: (status: PipelineStatus, residentBytes: number) => void = () => undefined;

  constructor(config: CompiledConfig, flow: FlowConfig, worker: number) {
    this.#worker = fork(flow.name, worker);
    const { process: child } = this.#worker;
    if (child.stderr) {
      createInterface(child.stderr).on('line', (line) => {
        process.stderr.write(`${line}\n`);
        if (FATAL.test(line)) this.#fatal = line;
        if (this.#stderr.push(line) > KEPT_LINES) this.#stderr.shift();
      });
    }
    this.loaded = new Promise((resolve) => {
      this.#worker.on('message', (report: Report) => {
        if (report.kind === 'loaded') resolve();
        this.#hear(report);
      });
    });
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null) => {
        this.#hasEnded = true;
        this.#answerMeasures();
        const { reason, hope } = this.#failed;
        resolve({ code, signal, lastWords: reason || this.#fatal || this.#stderr.join('\n'), hope });
      };
      // `close` comes when all that it wrote is read, but never while a process that it started holds its output open.
      child.once('close', end);
      child.once('exit', (code, signal) => void setTimeout(end, READ_ON_MS, code, signal));
      child.on('error', (error) => {
        if (child.pid !== undefined) return; // an order that it did not get any more: its end is heard of anyway
        this.#stderr.push(error.message);
        end(null, null);
      });
    });
    this.#tell({ kind: 'load', config });
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  get ageMs(): number {
    return performance.now() - this.#startedAt;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Its last status; null until there is one. */
  get reported(): Reported | null {
    return this.#reported;
  }

  /** As they were last known. */
  get metrics(): MetricsSnapshot {
    return this.#metrics;
  }

  /** Lets it connect, as soon as everything is loaded. */
  run(): void {
    this.#tell({ kind: 'run' });
  }

  /** Has it end its transaction and exit. */
  stop(): void {
    this.#tell({ kind: 'stop' });
  }

  /** Has it print from this level on. */
  setLevel(level: Level): void {
    this.#tell({ kind: 'level', level });
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  /** Brings `metrics` up to date, where the process answers in time. */
  async measure(): Promise<void> {
    if (this.#hasEnded) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, MEASURE_MS);
      this.#measured.push(() => {
        clearTimeout(timer);
        resolve();
      });
      this.#tell({ kind: 'measure' });
    });
  }

  #hear(report: Report): void {
    switch (report.kind) {
      case 'listening':
        for (const order of this.#unsaid.splice(0)) this.#send(order);
        this.#isListening = true;
        break;
      case 'loaded':
        break;
      case 'status':
        this.#reported = { status: report.status, at: performance.now() };
        this.onStatus(report.status, report.residentBytes);
        break;
      case 'metrics':
        this.#metrics = report.metrics;
        this.#answerMeasures();
        break;
      case 'failed':
        this.#failed = report;
        break;
    }
  }

  #answerMeasures(): void {
    for (const answer of this.#measured) answer();
    this.#measured = [];
  }

  #tell(order: Order): void {
    if (this.#isListening) this.#send(order);
    else this.#unsaid.push(order);
  }

  #send(order: Order): void {
    // To one that is gone nothing can be said, and its end is heard of anyway.
    if (this.#worker.isConnected()) this.#worker.send(order, () => undefined);
  }
}

/** In the supervisor's process group, so that what is sent to the group reaches it too. */
function fork(name: string, worker: number): Worker {
  cluster.setupPrimary({
    exec: COMMAND,
    // Who it is; the order to load tells the rest.
    args: ['worker', name, String(worker)],
    // Metrics may be NaN, which JSON has no word for.
    serialization: 'advanced',
    // What the runtime says when it dies goes to standard error, and is worth repeating.
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  return cluster.fork();
}
