import { AdminClient, type Client, type DescribedTopic, promised } from './native.ts';

const CALL_MS = 10_000;
/** UNKNOWN_TOPIC_OR_PART. Who may not see a topic is told TOPIC_AUTHORIZATION_FAILED whether it exists or not. */
const UNKNOWN = 3;
/** Of Kafka's AclOperation, those that are asked for. */
const CODES = { Read: 3, Write: 4 };

/** A right on a topic that a flow needs. Each of them contains Describe. */
export interface TopicNeed {
  readonly topic: string;
  readonly operation: keyof typeof CODES;
}

/** What the cluster says of some topics to the user that we are. No topic comes into being by being asked for. */
export async function describeTopics(client: Client, topics: Iterable<string>): Promise<readonly DescribedTopic[]> {
  const names = [...new Set(topics)];
  if (names.length === 0) return [];
  const options = { includeAuthorizedOperations: true, timeout: CALL_MS };
  return promised((done) => {
    AdminClient.createFrom(client).describeTopics(names, options, done);
  });
}

/** Why a need is not met, with the remedy; null where it is. */
export function unmet({ topic, operation }: TopicNeed, described: readonly DescribedTopic[]): string | null {
  const found = described.find(({ name }) => name === topic);
  if (found?.error?.code === UNKNOWN) {
    return `topic ${topic} not found: create it, or mend the name in the configuration`;
  }
  if (found?.error) return `${denied(operation, 'topic', topic)}; it may also be that there is no such topic`;
  // Brokers that do not tell are believed to allow it.
  const allowed = found?.authorizedOperations?.includes(CODES[operation]) ?? true;
  return allowed ? null : denied(operation, 'topic', topic);
}

/** What an operator reads of an ACL that is missing. */
export function denied(operation: string, resource: 'topic' | 'group' | 'transactional id', name: string): string {
  return `${operation} on ${resource} ${name} is denied to this user: add an ACL that allows it`;
}
