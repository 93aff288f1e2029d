import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** What a process has used since it began. */
export interface Usage {
  readonly cpuSeconds: number;
  /** The most memory it has held at once, where the system keeps that, else what it holds now. */
  readonly peakBytes: number;
}

/** `/proc` counts CPU time in hundredths of a second, whatever the kernel's own tick is. */
const TICKS_PER_SECOND = 100;

/** Where there is no `/proc`, `ps` is asked. Undefined for a process that is gone. */
export function readUsage(pid: number): Usage | undefined {
  try {
    if (!existsSync('/proc/self/stat'))
      return parsePs(execFileSync('ps', ['-o', 'time=,rss=', '-p', String(pid)], { encoding: 'utf8' }));
    return {
      cpuSeconds: parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8')),
      peakBytes: parseStatus(readFileSync(`/proc/${pid}/status`, 'utf8')),
    };
  } catch {
    return undefined; // the process has ended: whoever started it sees that for itself
  }
}

/** User and system seconds in `/proc/<pid>/stat`. */
export function parseStat(text: string): number {
  // The second field, the command, may hold spaces and parentheses; the third follows the last of these.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** `VmHWM`, the peak of resident memory, in `/proc/<pid>/status`. */
export function parseStatus(text: string): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(text)?.[1] ?? NaN) * 1024;
}

/** CPU time as `[hours:]minutes:seconds` and resident KiB. */
export function parsePs(text: string): Usage {
  const [time = '', kib = ''] = text.trim().split(/\s+/);
  const cpuSeconds = time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return { cpuSeconds, peakBytes: Number(kib) * 1024 };
}

/** A process's usage, sampled over its life. */
export class UsageLog {
  #samples: { at: number; cpuSeconds: number }[] = [];
  peakBytes = 0;

  /** @param at Milliseconds since the epoch. */
  add(at: number, { cpuSeconds, peakBytes }: Usage): void {
    this.#samples.push({ at, cpuSeconds });
    this.peakBytes = Math.max(this.peakBytes, peakBytes);
  }

  /** CPU seconds from one moment to another, both in milliseconds since the epoch. */
  cpuSeconds(from: number, to: number): number {
    return this.#at(to) - this.#at(from);
  }

  /** Taken to be even between two samples. */
  #at(moment: number): number {
    const next = this.#samples.findIndex(({ at }) => at >= moment);
    const after = this.#samples.at(next); // the last one for a moment after all of them
    const before = next > 0 ? this.#samples[next - 1] : after;
    if (!before || !after) return NaN;
    if (next < 0 || before === after) return after.cpuSeconds;
    const share = (moment - before.at) / (after.at - before.at);
    return before.cpuSeconds + share * (after.cpuSeconds - before.cpuSeconds);
  }
}
