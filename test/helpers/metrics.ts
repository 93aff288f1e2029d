/** One reading of a process's `/metrics`. */
export interface Metrics {
  /** The sum of all series of that name that have these labels; 0 where there is none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
  /** The series of that name. */
  series(name: string): readonly Series[];
  /** How many series there are, of all names. */
  readonly size: number;
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads Prometheus' text format. */
export function parseMetrics(page: string): Metrics {
  const byName = new Map<string, Series[]>();
  for (const line of page.split('\n')) {
    const [, name, labelText = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    if (name === undefined) continue;
    const labels = Object.fromEntries(
      [...labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text]),
    ) as Record<string, string>;
    byName.set(name, [...(byName.get(name) ?? []), { labels, value: Number(value) }]);
  }
  const series = (name: string): readonly Series[] => byName.get(name) ?? [];
  return {
    series,
    size: [...byName.values()].reduce((sum, of) => sum + of.length, 0),
    sum: (name, wanted = {}) =>
      series(name)
        .filter(({ labels }) => Object.entries(wanted).every(([label, text]) => labels[label] === text))
        .reduce((sum, { value }) => sum + value, 0),
  };
}
