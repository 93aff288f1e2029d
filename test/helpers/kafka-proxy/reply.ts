import { API_KEYS, type KafkaRequest } from './request.ts';

/** Kafka's error codes by which the group refuses offsets of a member that it goes on without. */
export const GROUP_REFUSALS = { ILLEGAL_GENERATION: 22, UNKNOWN_MEMBER_ID: 25, FENCED_INSTANCE_ID: 82 } as const;

/** Where the error codes stand in a reply, in the versions that the product's client speaks. */
function errorsIn(reply: Buffer, { apiKey, version }: KafkaRequest): number[] {
  // Behind the length, the correlation id and the throttle time.
  if (apiKey === API_KEYS.EndTxn && version < 3) return [12];
  if (apiKey === API_KEYS.TxnOffsetCommit && version >= 3) return partitionErrors(reply);
  throw new Error(`unknown reply to request ${apiKey}, version ${version}`);
}

/** Of topics and their partitions, in the encoding with tagged fields, of which there are none. */
function partitionErrors(reply: Buffer): number[] {
  let at = 13;
  /** Lengths stand one too high. They are short here: one byte each. */
  const length = (): number => reply.readUInt8(at++) - 1;
  const errors: number[] = [];
  for (let topics = length(); topics > 0; topics--) {
    const nameLength = length();
    at += nameLength;
    for (let partitions = length(); partitions > 0; partitions--) {
      errors.push(at + 4);
      at += 7;
    }
    at++;
  }
  return errors;
}

/** The first error code that is not 0, or 0. */
export function errorOf(reply: Buffer, request: KafkaRequest): number {
  return (
    errorsIn(reply, request)
      .map((at) => reply.readInt16BE(at))
      .find((code) => code !== 0) ?? 0
  );
}

/** The reply with this error code in all places. */
export function withError(reply: Buffer, request: KafkaRequest, code: number): Buffer {
  const changed = Buffer.from(reply);
  for (const at of errorsIn(reply, request)) changed.writeInt16BE(code, at);
  return changed;
}
