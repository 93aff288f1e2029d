import { format, resolveConfig } from 'prettier';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../../../src/observability/metric-specs.ts';
import { metricsPage } from '../../../../src/observability/metrics-page.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { createWorkerMetrics } from '../../../../src/observability/worker-metrics.ts';

describe('docs/metrics.md', () => {
  it('is what the code says (if not: npm run docs)', async () => {
    const path = `${import.meta.dirname}/../../../../docs/metrics.md`;
    const page = await format(metricsPage(), { ...(await resolveConfig(path)), parser: 'markdown' });
    await expect(page).toMatchFileSnapshot(path);
  });

  it('lists every metric there is, with type and help', async () => {
    const { registry } = createMetrics('1.2.3', () => []);
    createWorkerMetrics(registry, [], () => new Map());
    const registered = (await registry.getMetricsAsJSON()).filter(({ name }) => name.startsWith('millrace_'));
    const listed = Object.values(METRICS).map(({ name, type, help }) => ({ name, type, help }));
    const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
    expect(registered.map(({ name, type, help }) => ({ name, type, help })).sort(byName)).toEqual(listed.sort(byName));
  });
});
