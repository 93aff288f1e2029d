import { classify } from '../errors.ts';
import type { Ask } from './connection.ts';
import { array, compactArray, compactString, int16, int32, int64, int8, NO_TAGS, Reader, string } from './encoding.ts';

const FIND_COORDINATOR = 10;
const INIT_PRODUCER_ID = 22;
const ADD_PARTITIONS_TO_TXN = 24;
const ADD_OFFSETS_TO_TXN = 25;
const END_TXN = 26;
const DESCRIBE_TRANSACTIONS = 65;

const OF_TRANSACTIONS = 1;
const TRANSACTIONAL_ID_NOT_FOUND = 105;

/** Under what a transaction is written. */
export interface ProducerIdentity {
  readonly transactionalId: string;
  readonly producerId: bigint;
  readonly epoch: number;
}

/** The partitions of a topic, by number. */
export type Partitions = ReadonlyMap<string, readonly number[]>;

/** Which broker keeps the transactions of this id. */
export async function findTransactionCoordinator(
  ask: Ask,
  transactionalId: string,
): Promise<{ host: string; port: number }> {
  const body = Buffer.concat([string(transactionalId), int8(OF_TRANSACTIONS)]);
  const response = new Reader(await ask({ apiKey: FIND_COORDINATOR, version: 1, body }));
  response.int32(); // throttle time
  expectNone(response.int16(), 'looking for the coordinator');
  response.string(); // the error in words
  response.int32(); // its id
  return { host: response.string() ?? '', port: response.int32() };
}

/** The state of the id's last transaction in the broker's words, as `CompleteCommit`; null where it has had none (KIP-664). */
export async function transactionState(ask: Ask, transactionalId: string): Promise<string | null> {
  // With tagged fields, of which there are none: in the header, and behind what is asked for.
  const body = Buffer.concat([NO_TAGS, compactArray([compactString(transactionalId)]), NO_TAGS]);
  const response = new Reader(await ask({ apiKey: DESCRIBE_TRANSACTIONS, version: 0, body }));
  response.int8(); // the header's tagged fields
  response.int32(); // throttle time
  response.compactLength(); // one transaction
  const error = response.int16();
  if (error === TRANSACTIONAL_ID_NOT_FOUND) return null;
  expectNone(error, 'asking for the last transaction');
  response.compactString(); // the id
  return response.compactString();
}

/** Fences whoever had the id, and has the broker abort what he left open. */
export async function initProducerId(ask: Ask, transactionalId: string, timeoutMs: number): Promise<ProducerIdentity> {
  const body = Buffer.concat([string(transactionalId), int32(timeoutMs)]);
  const response = new Reader(await ask({ apiKey: INIT_PRODUCER_ID, version: 0, body }));
  response.int32(); // throttle time
  expectNone(response.int16(), 'opening a producer');
  return { transactionalId, producerId: response.int64(), epoch: response.int16() };
}

export async function addPartitions(ask: Ask, producer: ProducerIdentity, partitions: Partitions): Promise<void> {
  const topics = [...partitions].map(([topic, numbers]) => Buffer.concat([string(topic), array(numbers.map(int32))]));
  const body = Buffer.concat([identity(producer), array(topics)]);
  const response = new Reader(await ask({ apiKey: ADD_PARTITIONS_TO_TXN, version: 0, body }));
  response.int32(); // throttle time
  const errors = response.array(() => {
    response.string(); // the topic
    return response.array(() => [response.int32(), response.int16()] as const);
  });
  for (const [, error] of errors.flat()) expectNone(error, 'adding partitions to a transaction');
}

export async function addOffsets(ask: Ask, producer: ProducerIdentity, groupId: string): Promise<void> {
  const body = Buffer.concat([identity(producer), string(groupId)]);
  expectNone(await errorOf(ask, ADD_OFFSETS_TO_TXN, body), 'adding offsets to a transaction');
}

export async function endTransaction(ask: Ask, producer: ProducerIdentity, outcome: 'commit' | 'abort'): Promise<void> {
  const body = Buffer.concat([identity(producer), int8(outcome === 'commit' ? 1 : 0)]);
  expectNone(await errorOf(ask, END_TXN, body), 'ending a transaction');
}

async function errorOf(ask: Ask, apiKey: number, body: Buffer): Promise<number> {
  const response = new Reader(await ask({ apiKey, version: 0, body }));
  response.int32(); // throttle time
  return response.int16();
}

const identity = ({ transactionalId, producerId, epoch }: ProducerIdentity): Buffer =>
  Buffer.concat([string(transactionalId), int64(producerId), int16(epoch)]);

/** @throws ClientError */
function expectNone(code: number, doing: string): void {
  if (code !== 0) throw classify({ code, message: 'refused by the broker' }, doing);
}
