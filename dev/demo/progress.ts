import { Presets, SingleBar } from 'cli-progress';

export interface Progress {
  update(committed: number): void;
  stop(): void;
}

/** A bar in a terminal, a line every few seconds elsewhere. */
export function startProgress(committed: number, total: number): Progress {
  const format = process.stderr.isTTY ? '  {bar} {value}/{total} committed' : 'demo: {value}/{total} committed';
  const bar = new SingleBar({ format, noTTYOutput: true, notTTYSchedule: 3_000, hideCursor: true }, Presets.rect);
  bar.start(total, committed);
  return {
    update: (value) => bar.update(value),
    stop: () => bar.stop(),
  };
}
