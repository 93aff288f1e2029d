const SAMPLE = /^(?<series>[a-zA-Z_:][\w:]*(?:\{.*\})?) (?<value>[-+]?(?:\d[\d.e+-]*|Inf|NaN))$/i;

/** The samples of a page in Prometheus' text format, by name and labels; throws on a line that is none. */
export function parseSamples(page: string): Record<string, number> {
  const samples: Record<string, number> = {};
  for (const line of page.split('\n')) {
    if (line === '' || line.startsWith('# ')) continue;
    const { series, value } = SAMPLE.exec(line)?.groups ?? {};
    if (series === undefined || value === undefined) throw new Error(`not a sample: ${line}`);
    if (series in samples) throw new Error(`twice in one page: ${series}`);
    samples[series] = Number(value.replace(/inf$/i, 'Infinity').replace(/nan/i, 'NaN'));
  }
  return samples;
}

export async function scrape({
  registry,
}: {
  registry: { metrics(): Promise<string> };
}): Promise<Record<string, number>> {
  return parseSamples(await registry.metrics());
}
