import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { onceGone } from '../../dev/guard.ts';
import { parseMetrics, type Metrics } from './metrics.ts';
import { waitFor, type Patience } from './wait.ts';

const COMMAND = fileURLToPath(new URL('../../dist/millrace.cjs', import.meta.url));
const SCRAPE_EVERY_MS = 1_000;
const HTTP_TIMEOUT_MS = 2_000;
const SHOWN_LINES = 30;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Readiness {
  readonly status: number;
  readonly body: string;
}

/** A `millrace` process as a user would start it, in a process group of its own. */
export interface Processor {
  readonly pid: number;
  /** What it has printed, line by line. */
  readonly log: readonly string[];
  /** null while it runs. */
  readonly exit: Exit | null;
  /** Its metrics as they were last read, about a second ago. */
  readonly lastMetrics: Metrics | undefined;
  /** undefined where the endpoint does not answer. */
  readiness(): Promise<Readiness | undefined>;
  metrics(): Promise<Metrics | undefined>;
  /** Waits for a condition; fails at once when the process ends meanwhile, and shows its last words then. */
  until<T>(
    what: string,
    probe: () => T | undefined | false | Promise<T | undefined | false>,
    patience?: Patience,
  ): Promise<T>;
  untilReady(patience?: Patience): Promise<void>;
  untilLogged(pattern: RegExp, patience?: Patience): Promise<string>;
  untilExit(patience?: Patience): Promise<Exit>;
  /** To the process itself, not to its group: what an orchestrator does. */
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGUSR2'): void;
  /** To the whole group: what a Ctrl-C in a terminal does. */
  interrupt(): void;
  stop(): void;
  cont(): void;
  /** SIGKILL to the whole group; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGKILL to the process itself, not to its workers. */
  crash(): Promise<void>;
  /** The last lines it printed, and how it ended. */
  lastWords(): string;
  /** Of its HTTP endpoints. */
  url(path: string): string;
}

export interface ProcessorOptions {
  readonly args: readonly string[];
  readonly cwd: string;
  /** Where `http.port` was set to; undefined for commands that serve nothing. */
  readonly httpPort?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Where it is to run in one. */
  readonly container?: ContainerOptions;
}

export interface ContainerOptions {
  readonly name: string;
  /** `docker run …` up to the image: the command line of `millrace` follows. */
  readonly command: readonly string[];
}

export function startProcessor({ args, cwd, httpPort, env = {}, container }: ProcessorOptions): Processor {
  const [file = '', ...before] = container?.command ?? [process.execPath, COMMAND];
  const child = spawn(file, [...before, ...args], {
    cwd,
    // A group of its own: signals of the tests' terminal do not reach it, and `kill` reaches all that it started.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', ...env },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} could not be started`);

  // Whatever happens to this process, the other one and all that it started end too.
  const guard = onceGone(container ? `docker rm --force ${container.name}` : `kill -s KILL -- -${pid}`);
  const log: string[] = [];
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', (line) => log.push(line));
  let exit: Exit | null = null;
  // `close`, not `exit`: by then all that it printed has been read.
  child.once('close', (code, signal) => {
    clearInterval(scraper);
    exit = { code, signal };
    void guard.release();
  });

  let lastMetrics: Metrics | undefined;
  const scraper = setInterval(() => void metrics(), SCRAPE_EVERY_MS);
  if (httpPort === undefined) clearInterval(scraper);

  const url = (path: string): string => `http://127.0.0.1:${httpPort ?? 0}${path}`;

  async function get(path: string): Promise<Readiness | undefined> {
    try {
      const answer = await fetch(url(path), {
        signal: AbortSignal.timeout(HTTP_TIMEOUT_MS),
      });
      return { status: answer.status, body: await answer.text() };
    } catch {
      return undefined; // not up yet, stopped, or gone: the callers' conditions deal with all three
    }
  }

  async function metrics(): Promise<Metrics | undefined> {
    const page = await get('/metrics');
    if (page?.status !== 200) return undefined;
    return (lastMetrics = parseMetrics(page.body));
  }

  const lastWords = (): string => {
    const end = exit ? `exit code ${exit.code}, signal ${exit.signal}` : 'running';
    return [`millrace ${args.join(' ')} (pid ${pid}, ${end})`, ...log.slice(-SHOWN_LINES)].join('\n  ');
  };

  async function until<T>(
    what: string,
    probe: () => T | undefined | false | Promise<T | undefined | false>,
    { seen, ...patience }: Patience = {},
  ): Promise<T> {
    return waitFor(
      what,
      async () => {
        const answer = await probe();
        if ((answer === undefined || answer === false) && exit)
          throw new Error(`the process ended instead of: ${what}\n${lastWords()}`);
        return answer;
      },
      { ...patience, seen: () => `${seen?.() ?? ''}\n${lastWords()}` },
    );
  }

  const send = (target: number, signal: NodeJS.Signals): void => {
    if (exit !== null) return;
    try {
      process.kill(target, signal);
    } catch (error) {
      // Somebody else has killed it, and its end is about to be told.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const toGroup = (signal: NodeJS.Signals): void => send(-pid, signal);

  async function untilExit(patience: Patience = {}): Promise<Exit> {
    return waitFor('the process to end', () => exit ?? undefined, { ...patience, seen: lastWords });
  }

  return {
    pid,
    log,
    get exit() {
      return exit;
    },
    get lastMetrics() {
      return lastMetrics;
    },
    readiness: () => get('/ready'),
    metrics,
    until,
    async untilReady(patience) {
      let last = '';
      const isReady = async (): Promise<boolean> => {
        const readiness = await get('/ready');
        last = readiness?.body ?? '/ready does not answer';
        return readiness?.status === 200;
      };
      await until('/ready to say yes', isReady, { ...patience, seen: () => last });
    },
    untilLogged: (pattern, patience) =>
      until(`${String(pattern)} in the log`, () => log.find((line) => pattern.test(line)), patience),
    untilExit,
    signal: (name) => send(pid, name),
    interrupt: () => toGroup('SIGINT'),
    stop: () => toGroup('SIGSTOP'),
    cont: () => toGroup('SIGCONT'),
    async kill() {
      // Docker's client can pass on any signal but this one.
      if (container && exit === null) await promisify(execFile)('docker', ['kill', container.name]);
      else toGroup('SIGKILL');
      await untilExit();
    },
    async crash() {
      send(pid, 'SIGKILL');
      await untilExit();
    },
    lastWords,
    url,
  };
}
