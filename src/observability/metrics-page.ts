import { ALERTS, type Alert } from './alerts.ts';
import {
  ABORT_REASONS,
  EFFECT_OUTCOMES,
  METRICS,
  REBALANCE_EVENTS,
  RECYCLE_REASONS,
  RESTART_REASONS,
  type MetricSpec,
} from './metric-specs.ts';

/** `docs/metrics.md`, from the same table that the metrics are made from. */
export function metricsPage(): string {
  return `# Metrics and endpoints

<!-- Written from src/observability/metric-specs.ts by \`npm run docs\`. -->

| endpoint | answers |
| --- | --- |
| \`/metrics\` | what follows, in Prometheus' text format |
| \`/live\` | 200 as long as the process answers at all |
| \`/ready\` | 200 while every pipeline gets on, otherwise 503; the state of each pipeline's workers and why one is not ready, as JSON |
| \`/status\` | each worker's partitions with committed offset, lag and why one is held, as JSON |

## Metrics

Counters of what committed transactions did count each record once, whatever was repeated or aborted on the way. They live in
memory: a process that is killed takes what it had not been asked for since the last scrape with it.

| metric | type | labels | meaning |
| --- | --- | --- | --- |
${Object.values(METRICS).map(metricRow).join('\n')}

The process and Node.js describe themselves in \`process_*\` and \`nodejs_*\`, as prom-client defines them.

Where a supervisor runs workers ([workers](workers.md)), it serves one page for all: what workers count is added up, and stays when
one of their processes ends, as far as the supervisor had heard of it. \`process_*\` and \`nodejs_*\` then have the label \`worker\`:
\`<pipeline>.<index>\`, or \`supervisor\`. Gauges with that label elsewhere have the index alone, 0 where there is one worker.

Every label is bounded: topics and outputs come from the configuration, only assigned partitions have series, and of the types of
error a pipeline meets the first ones get a series each, the rest share \`error="other"\`.

## Label values

The label \`pipeline\` holds the name of a pipeline or of an effect: no two of them share one.

| \`outcome\` of \`${METRICS.effects.name}\` | meaning |
| --- | --- |
${valueRows(EFFECT_OUTCOMES)}

| \`event\` of \`${METRICS.rebalances.name}\` | meaning |
| --- | --- |
${valueRows(REBALANCE_EVENTS)}

| \`reason\` of \`${METRICS.transactions.name}{outcome="aborted"}\` | meaning |
| --- | --- |
${valueRows(ABORT_REASONS)}

| \`reason\` of \`${METRICS.recycled.name}\` | meaning |
| --- | --- |
${valueRows(RECYCLE_REASONS)}

| \`reason\` of \`${METRICS.workerRestarts.name}\` | meaning |
| --- | --- |
${valueRows(RESTART_REASONS)}

## Worth an alert

These are the rules in [config/prometheus/millrace.rules.yml](../config/prometheus/millrace.rules.yml).

| alert | when | expression | for | severity | then |
| --- | --- | --- | --- | --- | --- |
${ALERTS.map(alertRow).join('\n')}
`;
}

function metricRow({ name, type, labels, help }: MetricSpec): string {
  return `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`;
}

function alertRow({ name, when, expression, lasting, severity, then }: Alert): string {
  return `| \`${name}\` | ${when} | \`${expression}\` | ${lasting} | ${severity} | ${then} |`;
}

function valueRows(meanings: Readonly<Record<string, string>>): string {
  return Object.entries(meanings)
    .map(([value, meaning]) => `| \`${value}\` | ${meaning} |`)
    .join('\n');
}
