import { format, resolveConfig } from 'prettier';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ALERTS } from '../../../../src/observability/alerts.ts';

const config = `${import.meta.dirname}/../../../../config`;

describe('config/prometheus/millrace.rules.yml', () => {
  it('is what the code says (if not: npm run docs)', async () => {
    const rules = ALERTS.map(({ name, when, expression, lasting, severity, then }) => ({
      alert: name,
      expr: expression,
      for: lasting,
      labels: { severity },
      annotations: {
        summary: expression.includes('by (pipeline') ? `{{ $labels.pipeline }}: ${when}` : when,
        description: then,
      },
    }));
    const header = '# Written from src/observability/alerts.ts by `npm run docs`.\n';
    const path = `${config}/prometheus/millrace.rules.yml`;
    const yaml = header + stringify({ groups: [{ name: 'millrace', rules }] }, { lineWidth: 0 });
    await expect(await format(yaml, { ...(await resolveConfig(path)), parser: 'yaml' })).toMatchFileSnapshot(path);
  });
});
