import { CONTENDERS } from './contender.ts';
import type { Latency } from './latency.ts';
import type { Measured, Round } from './rounds.ts';
import { median } from './statistics.ts';
import type { Throughput } from './throughput.ts';
import type { WorkloadName } from './workloads.ts';

/** Runs with a wrong output are in it, but do not count. */
export interface Results {
  readonly throughput: Map<WorkloadName, readonly Round<Throughput>[]>;
  readonly latency: readonly Round<Latency>[];
}

const BYTES_PER_MB = 1_000_000;

const rate = ({ recordsPerSecond }: Throughput) => recordsPerSecond;
const cpu = ({ cpuMicrosPerRecord }: Throughput) => cpuMicrosPerRecord;
const memory = ({ peakBytes }: { readonly peakBytes: number }) => peakBytes / BYTES_PER_MB;

/** Whether each run wrote what it should have. */
export function isRight({ throughput, latency }: Results): boolean {
  return [...throughput.values(), latency].flat().every((round) => CONTENDERS.every((name) => counts(round[name])));
}

/** Markdown tables of medians (least–most), and below them the lines that scripts read. Of parts that were not measured there is nothing. */
export function report(results: Results): string[] {
  return [...throughputTable(results), ...latencyTable(results), ...summary(results)];
}

function throughputTable({ throughput }: Results): string[] {
  if (throughput.size === 0) return [];
  const rows = [...throughput].flatMap(([workload, rounds]) =>
    CONTENDERS.map((contender) => {
      const runs = rounds.map((round) => round[contender]);
      return [workload, contender, spread(runs, rate, 0), spread(runs, cpu, 2), spread(runs, memory, 0)];
    }),
  );
  return table(['workload', 'loop', 'records/s', 'CPU µs/record', 'peak memory MB'], rows);
}

function latencyTable({ latency }: Results): string[] {
  if (latency.length === 0) return [];
  const rows = CONTENDERS.map((contender) => {
    const runs = latency.map((round) => round[contender]);
    return [
      contender,
      spread(runs, ({ p50Ms }) => p50Ms, 1),
      spread(runs, ({ p99Ms }) => p99Ms, 1),
      spread(runs, ({ maxMs }) => maxMs, 1),
      spread(runs, memory, 0),
    ];
  });
  return table(['latency at 1,000 records/s', 'p50 ms', 'p99 ms', 'longest ms', 'peak memory MB'], rows);
}

function summary({ throughput, latency }: Results): string[] {
  const lines: string[] = [];
  if (throughput.size > 0) {
    const ratios = (of: (run: Throughput) => number) =>
      [...throughput].map(([workload, rounds]) => `${workload}=${ratio(rounds, of).toFixed(2)}`);
    lines.push(`cpu_ratio ${ratios(cpu).join(' ')}`);
    // A line of their own: scripts know the one of the pipelines by what it begins with.
    const isEffects = (text: string) => text.startsWith('effects=');
    const rates = ratios(rate);
    for (const line of [rates.filter(isEffects), rates.filter((text) => !isEffects(text))])
      if (line.length > 0) lines.push(`ratio ${line.join(' ')}`);
  }
  const trickles = latency.map(({ millrace }) => millrace).filter(counts);
  if (latency.length > 0) {
    const p50 = median(trickles.map(({ p50Ms }) => p50Ms));
    const p99 = median(trickles.map(({ p99Ms }) => p99Ms));
    lines.push(`latency p50=${p50.toFixed(0)} p99=${p99.toFixed(0)}`);
  }
  const rounds = [...throughput.values(), latency].flat();
  lines.push(`peak_memory_mb=${Math.max(...rounds.map(({ millrace }) => memory(millrace))).toFixed(0)}`);
  return lines;
}

/** Millrace's figure to the bare loop's in each round, so that what slows both down for a while does not count; of these the median. */
function ratio(rounds: readonly Round<Throughput>[], of: (run: Throughput) => number): number {
  const right = rounds.filter((round) => CONTENDERS.every((name) => counts(round[name])));
  return median(right.map((round) => of(round.millrace) / of(round['bare loop'])));
}

function counts({ wrong }: Measured): boolean {
  return wrong === null;
}

/** The median, the least and the most of the runs that count. */
function spread<Result extends Measured>(
  runs: readonly Result[],
  of: (run: Result) => number,
  fractionDigits: number,
): string {
  const values = runs.filter(counts).map(of);
  if (values.length === 0) return '–';
  const digits = { minimumFractionDigits: fractionDigits, maximumFractionDigits: fractionDigits };
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)].map((value) =>
    value.toLocaleString('en-US', digits),
  );
  return `${middle} (${least}–${most})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}
