import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { partitionId } from '../pipeline/ports.ts';

/** How a worker is started: the module that is `millrace`, and its arguments. */
export interface WorkerCommand {
  readonly module: string;
  readonly args: readonly string[];
}

/** What a worker has counted, as it last told. */
export interface Counters {
  readonly committed: number;
  readonly rebalances: number;
  readonly unknownCommits: number;
}

const ASK_EVERY_MS = 500;
const ASK_TIMEOUT_MS = 2_000;
const KEPT_LINES = 20;

/** One `millrace run` process, in a process group of its own, from its start to its end. */
export class Worker {
  readonly instance: string;
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>;
  counters: Counters = { committed: 0, rebalances: 0, unknownCommits: 0 };
  /** Whether its last two answers show that it commits. */
  isWorking = false;
  /** Whether its end was asked for. */
  isDismissed = false;
  isFrozen = false;
  hasEnded = false;
  readonly #child: ChildProcess;
  readonly #asking: NodeJS.Timeout;
  #port = 0;
  #lines: string[] = [];

  constructor(instance: string, { module, args }: WorkerCommand) {
    this.instance = instance;
    // With a channel to this process, of which the end tells the worker to end too.
    this.#child = fork(module, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream) createInterface(stream).on('line', (line) => this.#note(line));
    }
    this.#asking = setInterval(() => void this.#ask(), ASK_EVERY_MS);
    // `close`, not `exit`: by then all that it printed has been read.
    this.ended = once(this.#child, 'close').then(() => {
      this.hasEnded = true;
      this.isWorking = false;
      clearInterval(this.#asking);
    });
  }

  #note(line: string): void {
    this.#lines = [...this.#lines.slice(1 - KEPT_LINES), line];
    if (this.#port === 0 && line.includes('"http":')) this.#port = Number(fieldsOf(line)['http'] ?? 0);
  }

  /** What it said last of what went wrong, or else what it said last. */
  get lastWords(): string {
    const logged = this.#lines.map(fieldsOf);
    const wrong = logged.findLast(({ level }) => level === 'fatal' || level === 'error')?.['msg'];
    return typeof wrong === 'string' ? wrong : (this.#lines.at(-1) ?? 'it said nothing');
  }

  async #get(path: string): Promise<Response | undefined> {
    if (this.#port === 0 || this.hasEnded) return undefined;
    try {
      return await fetch(`http://127.0.0.1:${this.#port}${path}`, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) });
    } catch {
      return undefined; // it stands still, or has just ended: the next answer counts
    }
  }

  async #ask(): Promise<void> {
    if (this.isFrozen) return;
    const page = await (await this.#get('/metrics'))?.text();
    if (page === undefined) return;
    const committed = sum(page, 'millrace_transactions_total', 'outcome="committed"');
    this.isWorking = committed > this.counters.committed && !this.hasEnded;
    this.counters = {
      committed,
      rebalances: sum(page, 'millrace_rebalances_total'),
      unknownCommits: sum(page, 'millrace_producer_recycles_total', 'reason="unknown-commit"'),
    };
  }

  async isReady(): Promise<boolean> {
    return (await this.#get('/ready'))?.status === 200;
  }

  /** Its lag by partition, in records; null where it does not answer. */
  async lag(): Promise<ReadonlyMap<string, number> | null> {
    const answer = await this.#get('/status');
    if (!answer) return null;
    const { pipelines } = (await answer.json()) as Status;
    return new Map(
      pipelines.flatMap(({ partitions }) =>
        partitions.map((partition) => [partitionId(partition), partition.lag ?? NaN]),
      ),
    );
  }

  /** Has it stand still; resolves when it goes on. The shell lets it go on even if this process is gone by then. */
  async freeze(seconds: number): Promise<void> {
    const group = `-- -${this.#child.pid ?? 0}`;
    this.isFrozen = true;
    this.isWorking = false;
    const script = `kill -s STOP ${group}; sleep ${seconds}; kill -s CONT ${group}`;
    const shell = spawn('sh', ['-c', script], { detached: true, stdio: 'ignore' });
    await Promise.race([once(shell, 'exit'), this.ended]);
    this.isFrozen = false;
  }

  /** Ends a freeze before its time. */
  thaw(): void {
    this.#signal('SIGCONT');
  }

  /** SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    this.isDismissed = true;
    this.#signal('SIGKILL');
    await this.ended;
  }

  /** SIGTERM; resolves when it is gone. */
  async stop(): Promise<void> {
    this.isDismissed = true;
    this.#signal('SIGTERM');
    await this.ended;
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined || this.hasEnded) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      // It has ended, and nobody has told yet.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

interface Status {
  readonly pipelines: readonly {
    readonly partitions: readonly { readonly topic: string; readonly partition: number; readonly lag: number | null }[];
  }[];
}

function fieldsOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const fields: unknown = JSON.parse(line);
    return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : {};
  } catch {
    return {}; // printed by the transform, or a stack trace
  }
}

/** The sum of a metric's series with that label. */
function sum(page: string, name: string, label = ''): number {
  return page
    .split('\n')
    .filter((line) => line.startsWith(name) && line.includes(label))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
}
