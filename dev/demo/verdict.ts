import type { Contents, Output } from './contents.ts';
import { OUTPUTS } from './topics.ts';

interface Difference {
  readonly duplicates: number;
  readonly missing: number;
  /** Neither expected nor a repeat of what is: altered, in the wrong output, or from an aborted transaction. */
  readonly unexpected: number;
  /** Records that stand behind a later one of their key. */
  readonly outOfOrder: number;
}

/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly expected: number;
  readonly seen: number;
}

/** Compares the outputs with what they have to hold. */
export function compare(expected: Contents, seen: Contents): Row[] {
  const outputs = Object.keys(OUTPUTS) as Output[];
  const differences = outputs.map((output) => difference(expected[output], seen[output]));
  const sum = (kind: keyof Difference) => differences.reduce((total, found) => total + found[kind], 0);
  return [
    ...outputs.map((output) => ({ what: output, expected: expected[output].length, seen: seen[output].length })),
    { what: 'duplicates', expected: 0, seen: sum('duplicates') },
    { what: 'missing', expected: 0, seen: sum('missing') },
    { what: 'unexpected', expected: 0, seen: sum('unexpected') },
    { what: 'out of order', expected: 0, seen: sum('outOfOrder') },
  ];
}

export function table(rows: readonly Row[]): string {
  const line = (what: string, expected: string, seen: string) =>
    `  ${what.padEnd(14)}${expected.padStart(10)}${seen.padStart(10)}`;
  return [
    line('', 'expected', 'seen'),
    ...rows.map(({ what, expected, seen }) => line(what, String(expected), String(seen))),
  ].join('\n');
}

function difference(expected: readonly string[], seen: readonly string[]): Difference {
  // The data set has no two equal flights, so a line stands for one record.
  const places = new Map(expected.map((line, place) => [line, place]));
  const found = new Set<string>();
  const lastPlaces = new Map<string, number>();
  let duplicates = 0;
  let unexpected = 0;
  let outOfOrder = 0;
  for (const line of seen) {
    const place = places.get(line);
    if (place === undefined) unexpected++;
    else if (found.has(line)) duplicates++;
    else {
      const key = line.slice(0, line.indexOf(' '));
      if (place < (lastPlaces.get(key) ?? -1)) outOfOrder++;
      lastPlaces.set(key, place);
      found.add(line);
    }
  }
  return { duplicates, missing: places.size - found.size, unexpected, outOfOrder };
}
