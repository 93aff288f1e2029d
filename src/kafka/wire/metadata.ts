import type { Address, Ask } from './connection.ts';
import { boolean, compactArray, compactString, NO_TAGS, NO_UUID, Reader } from './encoding.ts';

const METADATA = 3;
/** The first that tells the ids of topics that are asked for by name, and nothing of rights by default. */
const VERSION = 12;
const UNKNOWN_TOPIC_OR_PARTITION = 3;

/** Topics as a broker knows them. Those that it can't tell of, or may not, are in neither list. */
export interface AskedTopics {
  readonly clusterId: string;
  /** All of the cluster. */
  readonly brokers: readonly Address[];
  /** By name. */
  readonly found: ReadonlyMap<string, FoundTopic>;
  readonly missing: readonly string[];
}

export interface FoundTopic {
  /** A topic that is made anew under its name has another (KIP-516). */
  readonly id: string;
  readonly partitions: number;
}

/** No topic comes into being by being asked for. */
export async function askForTopics(ask: Ask, topics: readonly string[]): Promise<AskedTopics> {
  const body = Buffer.concat([
    NO_TAGS, // of the header
    compactArray(topics.map((name) => Buffer.concat([NO_UUID, compactString(name), NO_TAGS]))),
    boolean(false), // no topic is to be created
    boolean(false), // without the operations that are allowed
    NO_TAGS,
  ]);
  const response = new Reader(await ask({ apiKey: METADATA, version: VERSION, body }));
  response.noTags(); // of the header
  response.int32(); // throttle time
  const brokers = response.compactArray(() => {
    response.int32(); // its id
    const address = { host: response.compactString() ?? '', port: response.int32() };
    response.compactString(); // its rack
    response.noTags();
    return address;
  });
  const clusterId = response.compactString() ?? '';
  response.int32(); // the controller
  const found = new Map<string, FoundTopic>();
  const missing: string[] = [];
  response.compactArray(() => {
    const error = response.int16();
    const name = response.compactString() ?? '';
    const id = response.uuid();
    response.int8(); // whether it is internal
    const partitions = response.compactArray(() => {
      partition(response);
    }).length;
    response.int32(); // the operations that are allowed
    response.noTags();
    if (error === UNKNOWN_TOPIC_OR_PARTITION) missing.push(name);
    else if (id !== null) found.set(name, { id, partitions });
  });
  return { clusterId, brokers, found, missing };
}

function partition(response: Reader): void {
  response.int16(); // error
  response.int32(); // index
  response.int32(); // leader
  response.int32(); // leader epoch
  for (let list = 0; list < 3; list++) response.compactArray(() => response.int32()); // replicas, in sync, offline
  response.noTags();
}
