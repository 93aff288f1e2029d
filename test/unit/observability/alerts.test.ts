import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { ALERTS } from '../../../src/observability/alerts.ts';
import { promtool } from '../../helpers/promtool.ts';

const RULES = fileURLToPath(new URL('../../../config/prometheus/millrace.rules.yml', import.meta.url));

interface Case {
  readonly name: string;
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly unknown[] }[];
}

const cases = parse(readFileSync(join(import.meta.dirname, 'alerts.yml'), 'utf8')) as { tests: readonly Case[] };

describe('config/prometheus', () => {
  it('is sound to promtool', () => {
    promtool(['check', 'rules', RULES]);
    promtool(['check', 'config', join(RULES, '../prometheus.yml')]);
  });

  it.for(cases.tests)('$name', (rules) => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-alerts-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'case.yml');
    writeFileSync(file, JSON.stringify({ ...cases, rule_files: [RULES], tests: [rules] }));
    promtool(['test', 'rules', file]);
  });

  it('has each rule tried with series that make it fire, and with some that do not', () => {
    for (const { name } of ALERTS) {
      const tries = cases.tests
        .map(({ alert_rule_test: tests }) => tests.filter(({ alertname }) => alertname === name))
        .filter(({ length }) => length > 0);
      const fires = tries.map((tests) => tests.some(({ exp_alerts: alerts = [] }) => alerts.length > 0));
      expect(new Set(fires), name).toEqual(new Set([true, false]));
    }
  });
});
