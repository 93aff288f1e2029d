import { readFileSync } from 'node:fs';

import { expect } from 'vitest';
import { parse } from 'yaml';

import { parseMetrics } from '../helpers/metrics.ts';
import { promtool } from '../helpers/promtool.ts';
import { it } from '../helpers/rig.ts';
import { startScenario } from '../helpers/scenario.ts';
import { workload } from '../helpers/workload.ts';

const config = (path: string): string => readFileSync(new URL(`../../config/${path}`, import.meta.url), 'utf8');

const rules = (parse(config('prometheus/millrace.rules.yml')) as { groups: { rules: { expr: string }[] }[] }).groups
  .flatMap(({ rules }) => rules)
  .map(({ expr }) => expr);

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: string }[] };
}

const { panels, templating } = JSON.parse(config('grafana/dashboards/millrace.json')) as Dashboard;
const targets = panels.flatMap(({ targets }) => targets);

/** Prometheus adds them to what it scrapes. */
const OF_PROMETHEUS = ['instance', 'job'];

const EFFECT = `import { defineEffect } from 'millrace';
export default defineEffect({ apply: () => 'applied' });
`;

it('has all that alert rules and panels ask for in a scrape of a pipeline with workers and an effect', async ({
  rig,
}) => {
  await rig.write('effect.ts', EFFECT);
  const input = { topics: [`${rig.name}.left`], key: 'string', value: 'json' };
  const effects = { e: { input, module: './effect.ts', batch: { maxWait: '20ms' } } };
  const run = await startScenario(rig, { pipeline: { workers: 2 }, config: { effects } });
  const processor = await run.startReady('a');
  await run.seeder.send(Array.from({ length: 100 }, workload()));
  await run.untilCaughtUp();
  await processor.until('an effect, a dead letter and a lag to be told', async () => {
    const metrics = await processor.metrics();
    const counts = ['millrace_effects_total', 'millrace_records_dead_lettered_total'].map((name) => metrics?.sum(name));
    // The brokers are asked for the lag about once a second.
    return counts.every((count = 0) => count > 0) && (metrics?.series('millrace_lag_records').length ?? 0) > 0;
  });
  const answer = await fetch(processor.url('/metrics'));
  const scrape = (await answer.text()).replace(/^(# \w+ )?(nodejs|process)_.*\n/gm, '');

  promtool(['check', 'metrics'], scrape);
  const metrics = parseMetrics(scrape);
  for (const expr of [...rules, ...templating.list.map(({ query }) => query), ...targets.map(({ expr }) => expr)]) {
    for (const { metric, labels, equal } of selectorsOf(expr)) {
      const series = metrics
        .series(metric)
        .filter(({ labels }) => equal.every(([name, value]) => labels[name] === value));
      expect(series.length, `series for ${metric} in ${expr}`).toBeGreaterThan(0);
      const known = new Set([...series.flatMap(({ labels }) => Object.keys(labels)), ...OF_PROMETHEUS]);
      expect(
        [...labels, ...groupingOf(expr)].filter((label) => !known.has(label)),
        `labels of ${expr}`,
      ).toEqual([]);
    }
  }
  for (const { expr, legendFormat } of targets) {
    const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
    expect(shown, `legend of ${expr}`).toEqual(groupingOf(expr).filter((label) => label !== 'le'));
  }

  // What Prometheus itself makes of the panels, with these series, whatever they count.
  const input_series = [...scrape.matchAll(/^(\w+(?:\{.*\})?) \S+$/gm)].map(([, series]) => ({
    series,
    values: '1+1x20',
  }));
  const promql_expr_test = targets.map(({ expr }) => ({
    expr: `sgn(count(${expr.replaceAll('$pipeline', '.*')}))`,
    eval_time: '5m',
    exp_samples: [{ labels: '{}', value: 1 }],
  }));
  promtool([
    'test',
    'rules',
    await rig.write('panels.yml', JSON.stringify({ tests: [{ interval: '15s', input_series, promql_expr_test }] })),
  ]);
});

/** The series that an expression asks for: the labels it names, and those that have to have a certain value. */
function selectorsOf(expr: string) {
  return [...expr.matchAll(/(millrace_\w+)(?:\{([^}]*)\})?/g)].map(([, metric = '', matchers = '']) => {
    const named = [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)];
    return {
      metric,
      labels: named.map(([, label = '']) => label),
      equal: named
        .filter(([, , operator]) => operator === '=')
        .map(([, label = '', , value]) => [label, value] as const),
    };
  });
}

/** The labels of what an expression yields. */
function groupingOf(expr: string): string[] {
  return [...new Set([...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', ')))];
}
