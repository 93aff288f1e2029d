import type { Contents, Output } from './contents.ts';
import { OUTPUTS } from './topics.ts';

/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly expected: number;
  readonly seen: number;
  /** The records that should not be among those seen, or should be. */
  readonly culprits: readonly string[];
}

interface Differences {
  readonly duplicates: string[];
  readonly missing: string[];
  /** Neither expected nor a repeat of what is: altered, in the wrong output, or from an aborted transaction. */
  readonly unexpected: string[];
  /** Records that stand behind a later one of their key. */
  readonly outOfOrder: string[];
}

/** Compares the outputs with what they have to hold. */
export function compare(expected: Contents, seen: Contents): Row[] {
  const outputs = Object.keys(OUTPUTS) as Output[];
  const found: Differences = { duplicates: [], missing: [], unexpected: [], outOfOrder: [] };
  for (const output of outputs) findDifferences(expected[output], seen[output], found);
  const none = (what: string, culprits: readonly string[]): Row => ({
    what,
    expected: 0,
    seen: culprits.length,
    culprits,
  });
  return [
    ...outputs.map((output) => countRow(output, expected[output].length, seen[output].length)),
    none('duplicates', found.duplicates),
    none('missing', found.missing),
    none('unexpected', found.unexpected),
    none('out of order', found.outOfOrder),
  ];
}

export function countRow(what: string, expected: number, seen: number): Row {
  return { what, expected, seen, culprits: [] };
}

export function table(rows: readonly Row[]): string {
  const line = (what: string, expected: string, seen: string) =>
    `  ${what.padEnd(14)}${expected.padStart(10)}${seen.padStart(10)}`;
  return [
    line('', 'expected', 'seen'),
    ...rows.map(({ what, expected, seen }) => line(what, String(expected), String(seen))),
  ].join('\n');
}

function findDifferences(expected: readonly string[], seen: readonly string[], differences: Differences): void {
  // The data set has no two equal flights, so a line stands for one record.
  const places = new Map(expected.map((line, place) => [line, place]));
  const found = new Set<string>();
  const lastPlaces = new Map<string, number>();
  for (const line of seen) {
    const place = places.get(line);
    if (place === undefined) differences.unexpected.push(line);
    else if (found.has(line)) differences.duplicates.push(line);
    else {
      const key = line.slice(0, line.indexOf(' '));
      if (place < (lastPlaces.get(key) ?? -1)) differences.outOfOrder.push(line);
      lastPlaces.set(key, place);
      found.add(line);
    }
  }
  differences.missing.push(...expected.filter((line) => !found.has(line)));
}
