import type { Ask } from './connection.ts';
import { array, int32, int8, Reader, string } from './encoding.ts';

const HEARTBEAT = 12;
const INIT_PRODUCER_ID = 22;
const DESCRIBE_CONFIGS = 32;
const GROUP_AUTHORIZATION_FAILED = 30;
const TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53;

/** Of Kafka's ConfigResource. */
const RESOURCE_TYPES = { topic: 2, broker: 4 };

interface Resource {
  readonly type: keyof typeof RESOURCE_TYPES;
  /** A topic's name, or the id of the broker that is asked. */
  readonly name: string;
}

/** Values by name, those that are secret left out; null where this user may not ask. */
export type Settings = ReadonlyMap<string, string> | null;

/** The answers have the questions' order. */
export async function describeConfigs(
  ask: Ask,
  resources: readonly Resource[],
  names: readonly string[],
): Promise<Settings[]> {
  const body = Buffer.concat([
    array(
      resources.map(({ type, name }) =>
        Buffer.concat([int8(RESOURCE_TYPES[type]), string(name), array(names.map(string))]),
      ),
    ),
    int8(0), // without the values that others stand in front of
  ]);
  const response = new Reader(await ask({ apiKey: DESCRIBE_CONFIGS, version: 1, body }));
  response.int32(); // throttle time
  const answers = response.array(() => {
    const error = response.int16();
    response.string(); // the error in words
    const resource = `${response.int8()} ${response.string() ?? ''}`;
    const entries = response.array((): [string, string | null] => {
      const entry: [string, string | null] = [response.string() ?? '', response.string()];
      response.int8(); // read-only
      response.int8(); // where it was set
      response.int8(); // secret: the value is null then
      response.array(() => [response.string(), response.string(), response.int8()]);
      return entry;
    });
    const known = entries.filter((entry): entry is [string, string] => entry[1] !== null);
    return [resource, error === 0 ? new Map(known) : null] as const;
  });
  const byResource = new Map(answers);
  return resources.map(({ type, name }) => byResource.get(`${RESOURCE_TYPES[type]} ${name}`) ?? null);
}

/**
 * Whether this user may read with a group: asked by the heartbeat of a member that there is not. Rights come first; who
 * has them is told that there is no such member, and the group goes on as it was.
 */
export async function mayReadGroup(ask: Ask, groupId: string): Promise<boolean> {
  const body = Buffer.concat([string(groupId), int32(-1), string('')]);
  const response = new Reader(await ask({ apiKey: HEARTBEAT, version: 0, body }));
  return response.int16() !== GROUP_AUTHORIZATION_FAILED;
}

/**
 * Whether this user may write with a transactional id: asked by opening a producer whose transactions may take 0 ms.
 * Rights come first; who has them is told that this is not a time-out, before the broker looks at what there is under
 * that id: a producer that lives is not fenced (`TransactionCoordinator.handleInitProducerId`).
 */
export async function mayWriteTransactionalId(ask: Ask, transactionalId: string): Promise<boolean> {
  const body = Buffer.concat([string(transactionalId), int32(0)]);
  const response = new Reader(await ask({ apiKey: INIT_PRODUCER_ID, version: 0, body }));
  response.int32(); // throttle time
  return response.int16() !== TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
}
