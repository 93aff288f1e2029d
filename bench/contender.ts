import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { onceGone } from '../dev/guard.ts';
import { readUsage, UsageLog } from './usage.ts';
import type { WorkloadName } from './workloads.ts';

export const CONTENDERS = ['millrace', 'bare loop'] as const;
export type Contender = (typeof CONTENDERS)[number];

/** What one process is to do. */
export interface Job {
  readonly workload: WorkloadName;
  readonly bootstrapServers: string;
  readonly input: string;
  readonly output: string;
  /** The target of effects. */
  readonly database?: string;
  /** Also the transactional id of the bare loop. */
  readonly group: string;
}

export interface Running {
  readonly usage: UsageLog;
  /** Throws when it has ended by itself. */
  check(): void;
  /** SIGTERM, and SIGKILL where that is not enough. */
  stop(): Promise<void>;
  /** What it printed last. */
  lastWords(): string;
}

const SAMPLE_MS = 100;
const STOP_MS = 15_000;
const SHOWN_LINES = 20;

function commandOf(contender: Contender, { workload }: Job, millrace: string): readonly string[] {
  const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  return contender === 'millrace'
    ? [millrace, 'run', file(`product/${workload}.yaml`)]
    : [file(workload === 'effects' ? 'bare-effect-loop.mjs' : 'bare-loop.mjs')];
}

/** @param millrace The built command, absolute. */
export function start(contender: Contender, job: Job, millrace: string): Running {
  const child = spawn(process.execPath, commandOf(contender, job, millrace), {
    detached: true, // a Ctrl-C in the terminal is for us
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      BENCH_BROKER: job.bootstrapServers,
      BENCH_WORKLOAD: job.workload,
      BENCH_INPUT: job.input,
      BENCH_OUTPUT: job.output,
      BENCH_GROUP: job.group,
      BENCH_DATABASE: job.database ?? '',
    },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${contender} could not be started`);
  const guard = onceGone(`kill -9 ${pid}`);
  const exited = once(child, 'exit');

  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      lines.push(line);
      if (lines.length > SHOWN_LINES) lines.shift();
    });
  }
  const lastWords = () => lines.join('\n');

  const usage = new UsageLog();
  const sampler = setInterval(() => {
    const sample = readUsage(pid);
    if (sample) usage.add(Date.now(), sample);
  }, SAMPLE_MS);
  child.once('exit', () => clearInterval(sampler));

  return {
    usage,
    lastWords,
    check() {
      if (child.exitCode === null && child.signalCode === null) return;
      throw new Error(`${contender} ended (${child.exitCode ?? child.signalCode}):\n${lastWords()}`);
    },
    async stop() {
      clearInterval(sampler);
      child.kill('SIGTERM');
      const end = new AbortController();
      await Promise.race([exited, delay(STOP_MS, undefined, { signal: end.signal }).catch(() => undefined)]);
      end.abort();
      await guard.release();
    },
  };
}
