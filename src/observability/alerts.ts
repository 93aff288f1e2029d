import { METRICS } from './metric-specs.ts';

/** What is worth an alert: `docs/metrics.md` and the rules for Prometheus are written from this. */
export interface Alert {
  readonly name: string;
  readonly when: string;
  readonly expression: string;
  /** How long it has to hold, in Prometheus' form. */
  readonly lasting: string;
  /** `critical`: records wait until somebody acts. `warning`: somebody should look at it in working hours. */
  readonly severity: 'critical' | 'warning';
  /** What to do, in Markdown. */
  readonly then: string;
}

/** `increase` of counters whose series begin with their first event, of which it would not see that one. */
const risen = (name: string, window: string): string =>
  `(${name} unless ${name} offset ${window}) or increase(${name}[${window}])`;

export const ALERTS: readonly Alert[] = [
  {
    name: 'MillraceAbsent',
    when: 'no process is scraped',
    expression: `absent(${METRICS.build.name})`,
    lasting: '5m',
    severity: 'critical',
    then: 'see whether the processes run, and what their last log line says',
  },
  {
    name: 'MillraceNotReady',
    when: 'a pipeline does not get on',
    expression: `min by (pipeline) (${METRICS.ready.name}) == 0`,
    lasting: '5m',
    severity: 'critical',
    then: '`/ready` says why',
  },
  {
    name: 'MillracePartitionHeld',
    when: 'a partition is held',
    expression: `sum by (pipeline) (${METRICS.held.name}) > 0`,
    lasting: '1m',
    severity: 'critical',
    then: '`/status` names the partition and the error; configure a dead-letter topic, or mend the record, the transform or the target',
  },
  {
    name: 'MillraceStalled',
    when: 'records wait and nothing is committed',
    // By process: one that stands still is not to hide behind those that commit.
    expression: `sum by (pipeline, instance) (${METRICS.lag.name}) > 0 and sum by (pipeline, instance) (rate(${METRICS.transactions.name}{outcome="committed"}[5m])) == 0`,
    lasting: '5m',
    severity: 'critical',
    then: 'look for aborts and client errors in the log',
  },
  {
    name: 'MillraceDeadLetters',
    when: 'records are given up',
    expression: `sum by (pipeline, error) (${risen(METRICS.deadLettered.name, '15m')}) > 0`,
    lasting: '0m',
    severity: 'warning',
    then: 'look at the dead-letter topic',
  },
  {
    name: 'MillraceWorkerCrashes',
    when: 'worker processes end again and again',
    expression: `sum by (pipeline) (increase(${METRICS.workerRestarts.name}{reason="crash"}[15m])) > 3`,
    lasting: '0m',
    severity: 'warning',
    then: 'the log has their last words',
  },
  {
    name: 'MillraceProducerReplaced',
    when: 'the producer is replaced again and again',
    // The search for a single refused record takes a dozen of them, and ends in a dead letter or a held partition.
    expression: `sum by (pipeline, reason) (increase(${METRICS.recycled.name}{reason!="rejected"}[15m])) > 5`,
    lasting: '0m',
    severity: 'warning',
    then: 'look at the brokers and the network between',
  },
];
