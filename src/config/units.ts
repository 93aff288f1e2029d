const MILLISECONDS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const BYTES = { B: 1, KB: 1e3, KiB: 2 ** 10, MB: 1e6, MiB: 2 ** 20, GB: 1e9, GiB: 2 ** 30 } as const;

/** A quantity that is written with its unit, such as `100ms` or `16MiB`. */
export interface Unit {
  /** What is counted, in words: `duration`, `size`. */
  readonly noun: string;
  readonly pattern: RegExp;
  readonly names: readonly string[];
  /** In milliseconds or bytes; NaN when the text does not fit the pattern. */
  parse: (text: string) => number;
  /** In the largest unit that needs no fraction. */
  format: (amount: number) => string;
}

function unit(noun: string, factors: Readonly<Record<string, number>>): Unit {
  const names = Object.keys(factors);
  const pattern = new RegExp(`^[0-9]+(${names.join('|')})$`);
  return {
    noun,
    pattern,
    names,
    parse: (text) => {
      const suffix = pattern.exec(text)?.[1];
      return suffix === undefined ? NaN : Number.parseInt(text, 10) * (factors[suffix] ?? NaN);
    },
    format: (amount) => {
      const [name, factor] = Object.entries(factors).findLast(([, each]) => amount % each === 0) ?? [names[0], 1];
      return `${amount / factor}${name}`;
    },
  };
}

export const DURATION = unit('duration', MILLISECONDS);
export const SIZE = unit('size', BYTES);
