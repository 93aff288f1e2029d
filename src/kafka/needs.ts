import type { EffectConfig, PipelineConfig } from '../config/compiled.ts';
import type { Needs } from './denials.ts';
import type { TopicNeed } from './topics.ts';

/** What a flow must be allowed to do. Idempotent writes need no right of their own where they are transactional. */
export function needsOf(flow: PipelineConfig | EffectConfig): Needs {
  const outputs = flow.kind === 'pipeline' ? flow.outputs.map(({ topic }) => topic) : [];
  const written = new Set([...outputs, ...(flow.deadLetter ? [flow.deadLetter.topic] : [])]);
  return {
    topics: [
      ...flow.input.topics.map((topic): TopicNeed => ({ topic, operation: 'Read' })),
      ...[...written].map((topic): TopicNeed => ({ topic, operation: 'Write' })),
    ],
    groupId: flow.groupId,
    transactionalId: flow.transactionalId,
    transactionTimeoutMs: flow.transaction.timeoutMs,
  };
}
