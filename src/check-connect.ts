import { type Finding, finding, lineOf } from './check/finding.ts';
import { judgeConnection, judgeDurability, judgeSecurity } from './check/judge-cluster.ts';
import { type FlowNeeds, judgeFlow } from './check/judge-flow.ts';
import type { CompiledConfig, EffectConfig, PipelineConfig } from './config/compiled.ts';
import { asWorker } from './config/worker.ts';
import { EXIT } from './exit-codes.ts';
import { inspectCluster } from './kafka/inspect.ts';
import { needsOf } from './kafka/needs.ts';
import { redactSecrets } from './observability/redact.ts';
import { ClientError } from './pipeline/ports.ts';

/**
 * Asks the cluster whether a configuration can run there, and prints a line for each thing. Returns the exit code: 2
 * where something is missing, 1 where the cluster can't be asked now.
 */
export async function checkConnect(config: CompiledConfig, print: (line: string) => void): Promise<number> {
  const redact = redactSecrets(config.secrets);
  const tell = (findings: readonly Finding[]) => {
    for (const each of findings) print(redact(lineOf(each)));
  };
  tell(judgeSecurity(config.cluster));
  try {
    const findings = await find(config);
    tell(findings);
    return findings.some(({ verdict }) => verdict === 'error') ? EXIT.unusable : EXIT.stopped;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    tell([finding('error', error.message)]);
    return error.kind === 'denied' ? EXIT.unusable : EXIT.failed;
  }
}

async function find(config: CompiledConfig): Promise<Finding[]> {
  const { application, cluster } = config;
  const flows = [...config.pipelines, ...config.effects].map((flow) => ({ flow, needs: allNeedsOf(flow, config) }));
  const subjects = {
    topics: flows.flatMap(({ needs }) => needs.topics.map(({ topic }) => topic)),
    groups: flows.map(({ needs }) => needs.groupId),
    transactionalIds: flows.flatMap(({ needs }) => needs.transactionalIds),
  };
  const facts = await inspectCluster(cluster, subjects, `${application}.check`);
  return [
    judgeConnection(cluster, facts),
    ...flows.flatMap(({ flow, needs }) => judgeFlow(flow, needs, facts)),
    ...judgeDurability(facts),
  ];
}

/** Of all its workers together. */
function allNeedsOf(flow: PipelineConfig | EffectConfig, config: CompiledConfig): FlowNeeds {
  const ofWorkers = Array.from({ length: flow.workers }, (_, worker) => needsOf(asWorker(flow, worker, config)));
  return { ...needsOf(flow), transactionalIds: ofWorkers.map(({ transactionalId }) => transactionalId) };
}
