import type { CompiledConfig, EffectConfig, PipelineConfig } from '../config/compiled.ts';
import type { FlowOverview, Overview } from '../page/overview.ts';
import type { PipelineStatus } from '../pipeline/observer.ts';
import type { MetricsSnapshot } from './aggregate.ts';
import { History } from './history.ts';
import { totalsOf } from './totals.ts';

type Flow = PipelineConfig | EffectConfig;

export interface OverviewSources {
  readonly config: Pick<CompiledConfig, 'application' | 'instance'>;
  readonly version: string;
  readonly flows: readonly Flow[];
  readonly statuses: () => readonly PipelineStatus[];
  readonly snapshot: () => Promise<MetricsSnapshot>;
}

const GUARANTEES = {
  pipeline: 'exactly once, for readers with read_committed',
  effect: 'at least once; the target makes repeats harmless',
} as const;

/** Gives what the status page shows, with the history from here on. */
export function createOverview(sources: OverviewSources): () => Promise<Overview> {
  const { config, version, flows, statuses, snapshot } = sources;
  const { application, instance } = config;
  const startedAt = Date.now();
  const history = new History(
    flows.map(({ name }) => name),
    snapshot,
  );
  history.start();
  return async () => {
    const known = statuses();
    const metrics = await snapshot();
    const shown = flows.map((flow) => overviewOf(flow, known, metrics));
    return { application, instance, version, startedAt, flows: shown, samples: history.samples };
  };
}

function overviewOf(flow: Flow, statuses: readonly PipelineStatus[], metrics: MetricsSnapshot): FlowOverview {
  const own = statuses.filter(({ pipeline }) => pipeline === flow.name);
  return {
    name: flow.name,
    kind: flow.kind,
    guarantee: GUARANTEES[flow.kind],
    route: routeOf(flow),
    ready: own.length > 0 && own.every(({ ready }) => ready),
    states: [...new Set(own.map(({ state }) => state))],
    reasons: own.flatMap(({ worker, reasons }) =>
      own.length > 1 ? reasons.map((reason) => `worker ${worker}: ${reason}`) : reasons,
    ),
    partitions: own
      .flatMap(({ worker, partitions }) => partitions.map((partition) => ({ ...partition, worker })))
      .sort((a, b) => a.topic.localeCompare(b.topic) || a.partition - b.partition),
    totals: totalsOf(metrics, flow.name),
  };
}

function routeOf(flow: Flow): string {
  const to = flow.kind === 'pipeline' ? flow.outputs.map(({ topic }) => topic) : [flow.target.type];
  const letters = flow.deadLetter ? `dead letters to ${flow.deadLetter.topic}` : 'no dead-letter topic';
  return `${flow.input.topics.join(', ')} → ${to.join(', ')}; ${letters}`;
}
