import { ClientError } from '../pipeline/ports.ts';
import { GROUP_DENIED, INVALID_TRANSACTION_TIMEOUT, TOPIC_DENIED, TRANSACTIONAL_ID_DENIED } from './errors.ts';
import type { Client } from './native.ts';
import { denied, describeTopics, type TopicNeed, unmet } from './topics.ts';

/** What a flow must be allowed to do, and for how long. */
export interface Needs {
  readonly topics: readonly TopicNeed[];
  readonly groupId: string;
  readonly transactionalId: string;
  readonly transactionTimeoutMs: number;
}

/** Says what is denied: an error of the broker does not always name the topic, and never the right. */
export async function explained(error: ClientError, client: Client, needs: Needs): Promise<ClientError> {
  const [what] = await missing(error.code, client, needs);
  return what === undefined ? error : new ClientError(what, error.kind, error.code);
}

async function missing(code: number, client: Client, needs: Needs): Promise<string[]> {
  const { topics, groupId, transactionalId, transactionTimeoutMs } = needs;
  switch (code) {
    case TOPIC_DENIED:
      return unmetNeeds(client, topics).catch(() => []); // what the broker said has to do then
    case GROUP_DENIED:
      return [denied('Read', 'group', groupId)];
    case TRANSACTIONAL_ID_DENIED:
      return [denied('Write', 'transactional id', transactionalId)];
    case INVALID_TRANSACTION_TIMEOUT:
      // The client's text names a setting that no broker has.
      return [
        `transaction.timeout is ${transactionTimeoutMs} ms, longer than the broker's transaction.max.timeout.ms allows: ` +
          `shorten the one or raise the other`,
      ];
    default:
      return [];
  }
}

/** Each need on a topic that is not met, in words. */
export async function unmetNeeds(client: Client, needs: readonly TopicNeed[]): Promise<string[]> {
  const described = await describeTopics(
    client,
    needs.map(({ topic }) => topic),
  );
  return needs.map((need) => unmet(need, described)).filter((problem) => problem !== null);
}
