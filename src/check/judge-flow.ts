import type { EffectConfig, PipelineConfig } from '../config/compiled.ts';
import type { ClusterFacts } from '../kafka/inspect.ts';
import type { Needs } from '../kafka/denials.ts';
import { maxRecordBytes } from '../kafka/record-limit.ts';
import { denied, type TopicNeed, unmet } from '../kafka/topics.ts';
import { type Finding, finding } from './finding.ts';

type Flow = PipelineConfig | EffectConfig;

export interface FlowNeeds extends Pick<Needs, 'topics' | 'groupId'> {
  /** One for each worker. */
  readonly transactionalIds: readonly string[];
}

/** Whether a pipeline or effect finds what it needs and may do what it must, one finding for each. */
export function judgeFlow(flow: Flow, needs: FlowNeeds, facts: ClusterFacts): Finding[] {
  const { more } = facts;
  const findings = [
    ...needs.topics.map((need) => judgeTopic(need, facts)),
    judgeRight('Read', 'group', needs.groupId, more.kind === 'asked' ? more.groups : more.why),
    ...needs.transactionalIds.map((id) =>
      judgeRight('Write', 'transactional id', id, more.kind === 'asked' ? more.transactionalIds : more.why),
    ),
    judgeTimeout(flow, facts),
    ...judgeSizes(flow, needs, facts),
  ];
  if (flow.kind === 'effect') {
    findings.push(finding('not checked', `its target (${flow.target.type}): it is first reached when the effect runs`));
  }
  return findings.map(({ verdict, text }) => finding(verdict, `${flow.kind} ${flow.name}: ${text}`));
}

function judgeTopic(need: TopicNeed, { topics }: ClusterFacts): Finding {
  const problem = unmet(need, topics);
  if (problem !== null) return finding('error', problem);
  const found = topics.find(({ name }) => name === need.topic);
  const count = found?.partitions.length ?? 0;
  const what = `${need.operation} on topic ${need.topic}, ${count} partition${count === 1 ? '' : 's'}`;
  return found?.authorizedOperations
    ? finding('ok', what)
    : finding('not checked', `${what}: the brokers do not tell what this user may do`);
}

function judgeRight(
  operation: 'Read' | 'Write',
  resource: 'group' | 'transactional id',
  name: string,
  known: ReadonlyMap<string, boolean> | string,
): Finding {
  if (typeof known === 'string') return finding('not checked', `${operation} on ${resource} ${name}: ${known}`);
  return known.get(name) === true
    ? finding('ok', `${operation} on ${resource} ${name}`)
    : finding('error', denied(operation, resource, name));
}

function judgeTimeout({ transaction: { timeoutMs } }: Flow, { more }: ClusterFacts): Finding {
  const ours = `transaction.timeout ${timeoutMs} ms`;
  const theirs = "the brokers' transaction.max.timeout.ms";
  if (more.kind === 'unasked') return finding('not checked', `${ours} against ${theirs}: ${more.why}`);
  const max = more.broker?.get('transaction.max.timeout.ms');
  if (max === undefined) {
    return finding('not checked', `${ours} against ${theirs}: DescribeConfigs on the cluster is denied to this user`);
  }
  return timeoutMs <= Number(max)
    ? finding('ok', `${ours} is within ${theirs}, ${max}`)
    : finding('error', `${ours} is above ${theirs}, ${max}: shorten the one, or raise the other`);
}

/** Broker and client differ by this much in what they take unless told otherwise, and few records lie in between. */
const TOLERANCE = 1.1;

function judgeSizes(flow: Flow, { topics }: FlowNeeds, { more }: ClusterFacts): Finding[] {
  if (more.kind === 'unasked') return [];
  const limitOf = (topic: string) => Number(more.topics.get(topic)?.get('max.message.bytes') ?? Infinity);
  const sent = maxRecordBytes(flow.producerProperties);
  const findings = topics
    .filter(({ operation, topic }) => operation === 'Write' && limitOf(topic) < sent)
    .map(({ topic }) =>
      finding(
        'warning',
        `topic ${topic} takes records of at most ${limitOf(topic)} bytes, its producer sends up to ${sent}: one in between ` +
          `costs a refused transaction; set producer.properties message.max.bytes to ${limitOf(topic)}, or raise the topic's max.message.bytes`,
      ),
    );
  const letters = flow.deadLetter ? Math.min(sent, limitOf(flow.deadLetter.topic)) : Infinity;
  for (const topic of flow.input.topics) {
    const read = limitOf(topic);
    if (read === Infinity || read <= letters * TOLERANCE) continue;
    findings.push(
      finding(
        'warning',
        `records of topic ${topic} may have ${read} bytes, dead letters only ${letters}: a larger one that fails holds its ` +
          "partition; raise producer.properties message.max.bytes and the dead-letter topic's max.message.bytes",
      ),
    );
  }
  return findings;
}
