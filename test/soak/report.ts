import { driftOf, isFlat } from './drift.ts';
import { QUANTITIES, type Quantity, type Sampler } from './sampler.ts';

type Points = Sampler['points'];

const MINUTE_MS = 60_000;

/** The quantities minute by minute, as means over all processes. */
export function overTime(points: Points, durationMs: number): string {
  const rows = Array.from({ length: Math.ceil(durationMs / MINUTE_MS) }, (_, minute) => [
    String(minute + 1),
    ...QUANTITIES.map((quantity) => {
      const values = (points.get(quantity) ?? [])
        .filter(({ at }) => Math.floor(at / MINUTE_MS) === minute)
        .map(({ value }) => value);
      return values.length === 0 ? '–' : (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(1);
    }),
  ]);
  return table(['minute', ...QUANTITIES], rows);
}

/** How flat each has been over the last two thirds. */
export function drifts(points: Points, durationMs: number): string {
  const rows = QUANTITIES.map((quantity) => {
    const drift = driftOf(points.get(quantity) ?? [], durationMs);
    return [
      quantity,
      drift.middle.toFixed(1),
      drift.last.toFixed(1),
      `${(drift.share * 100).toFixed(1)} %`,
      isFlat(drift) ? 'flat' : 'NOT flat',
    ];
  });
  return table(['', 'middle third', 'last third', 'drift', 'I11 (±10 %)'], rows);
}

export function notFlat(points: Points, durationMs: number): Quantity[] {
  return QUANTITIES.filter((quantity) => !isFlat(driftOf(points.get(quantity) ?? [], durationMs)));
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ');
  return [line(head), ...rows.map(line)].join('\n');
}
