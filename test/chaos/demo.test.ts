import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { expect, inject, onTestFailed, onTestFinished, test } from 'vitest';

import { onceGone } from '../../dev/guard.ts';
import { hasPostgres } from '../../dev/setup/postgres.mjs';
import { createRandom, type Random } from '../helpers/random.ts';
import { passed, waitFor } from '../helpers/wait.ts';
import { isAlive } from '../helpers/workers.ts';
import { provideExposed, type Exposed } from './rows.ts';

const row = test.extend<{ random: Random; exposed: Exposed }>({
  random: async ({ task }, use) => use(createRandom(`${inject('seed')} ${task.name}`)),
  exposed: [async ({ task }, use) => provideExposed(task, use), { auto: true }],
});

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE_MS = 540_000;

const VICTIMS = ['worker', 'supervisor', 'broker'] as const;
type Victim = (typeof VICTIMS)[number] | 'process of the effects';

row(
  'A1c: the demo says "exactly once" whatever somebody else kills meanwhile, at moments and in an order drawn by the seed',
  { timeout: 600_000 },
  async ({ random, exposed, task }) => {
    const demo = startDemo();
    const killed: Record<string, number> = {};
    const kill = async (...victims: Victim[]): Promise<void> => {
      const pids = await Promise.all(victims.map((victim) => demo.pidOf(victim, random)));
      pids.forEach((pid) => process.kill(pid, 'SIGKILL'));
      for (const victim of victims) killed[victim] = (killed[victim] ?? 0) + 1;
    };
    const rounds: Victim[][] = [...VICTIMS.map((victim) => [victim]), ['broker', 'supervisor']];
    rounds.push([random.pick(VICTIMS)], [random.pick(VICTIMS)]);
    while (rounds.length > 0) {
      await passed(random.integer(500, 6_000));
      await kill(...(rounds.splice(random.integer(0, rounds.length - 1), 1)[0] ?? []));
    }
    if (hasPostgres()) {
      await demo.untilSaid(/a process of the effects meanwhile/);
      await passed(random.integer(0, 5_000));
      await kill(random.pick(['broker', 'process of the effects']));
    }

    expect(await demo.untilExit(), demo.lastWords()).toBe(0);
    const verdict = /^verdict: exactly once: .* by somebody else: (\d+)\), and each of 20011 records/;
    const [, noticed] = verdict.exec(demo.lines.at(-1) ?? '') ?? [];
    task.meta.exposure = { ...killed, noticed: Number(noticed) };
    for (const pid of demo.pids) expect(isAlive(pid), `${pid} is left`).toBe(false);
    // A supervisor that dies right behind its worker tells nobody of that one.
    exposed({ worker: 1, supervisor: 2, broker: 2, noticed: 6 });
  },
);

/** `npm run demo` without its set-up, and what it says. */
function startDemo() {
  const child = spawn(process.execPath, ['dev/run.mjs', 'dev/demo.ts'], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A broker that is given would be left alone.
    env: { ...process.env, KAFKA_BOOTSTRAP_SERVERS: '' },
  });
  const guard = onceGone(`kill -s KILL -- -${child.pid}`);
  onTestFinished(() => guard.release());
  const lines: string[] = [];
  const pids = new Map<string, number>();
  const all = new Set<number>();
  let code: number | null | undefined;
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => {
      lines.push(line);
      const [, victim = '', pid] = /(supervisor|broker|process of the effects)\b.*kill -9 (\d+)/.exec(line) ?? [];
      if (pid === undefined) return;
      pids.set(victim, Number(pid));
      all.add(Number(pid));
    });
  child.once('close', (exitCode) => (code = exitCode));

  const lastWords = (): string => lines.join('\n');
  onTestFailed(() => console.error(lastWords()));
  const untilThere = async <T>(what: string, probe: () => T | undefined | false): Promise<T> =>
    waitFor(
      what,
      () => {
        if (code !== undefined) throw new Error(`the demo ended with ${code} instead of: ${what}`);
        return probe();
      },
      { timeoutMs: PATIENCE_MS },
    );

  return {
    lines,
    /** Of whatever it has named. */
    pids: all,
    lastWords,
    untilSaid: (pattern: RegExp) => untilThere(String(pattern), () => lines.some((line) => pattern.test(line))),
    untilExit: () => waitFor('the demo to end', () => code, { timeoutMs: PATIENCE_MS }),
    /** The process that fills that role now, once there is one. */
    pidOf: (victim: Victim, random: Random): Promise<number> =>
      untilThere(`a ${victim}`, () => {
        const pid = pids.get(victim === 'worker' ? 'supervisor' : victim);
        if (pid === undefined || !isAlive(pid)) return undefined;
        if (victim !== 'worker') return pid;
        const workers = childrenOf(pid);
        return workers.length > 0 && random.pick(workers);
      }),
  };
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return stdout.trim().split(/\s+/).filter(Boolean).map(Number);
}
