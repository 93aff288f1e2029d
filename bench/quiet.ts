import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Cores in use above which a measurement would be one of the neighbours too. */
const QUIET_BELOW = 0.3;
const LOOK_MS = 1_000;

/** Waits until the machine has little else to do; returns how many cores were busy when it gave up, or null if it was quiet. */
export async function untilQuiet(patienceMs: number): Promise<number | null> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const before = busyMs();
    const started = performance.now();
    await delay(LOOK_MS);
    const busyCores = (busyMs() - before) / (performance.now() - started);
    if (busyCores < QUIET_BELOW) return null;
    if (Date.now() >= deadline) return busyCores;
  }
}

/** What all cores together have worked since the machine started. */
function busyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}
