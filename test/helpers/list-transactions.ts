import { KafkaError } from './kafka-error.ts';
import { askBroker, bytes } from './raw-request.ts';

const LIST_TRANSACTIONS = 66;

export interface ListedTransaction {
  readonly transactionalId: string;
  /** As the broker names it: Ongoing, PrepareCommit, CompleteAbort, … */
  readonly state: string;
}

/** The transactions that one broker coordinates. */
export async function listTransactions(host: string, port: number): Promise<ListedTransaction[]> {
  // Two empty filters and no tagged fields.
  const request = { apiKey: LIST_TRANSACTIONS, version: 0, isFlexible: true, body: bytes([1, 1, 0]) };
  return parse(await askBroker(host, port, request));
}

function parse(body: Buffer): ListedTransaction[] {
  let at = 4; // behind the throttle time
  /** A compact array's or string's length stands one too high, in groups of seven bits. */
  const length = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = body.readUInt8(at++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value - 1;
    }
  };
  const string = (): string => {
    const size = length();
    at += size;
    return body.toString('utf8', at - size, at);
  };

  const error = body.readInt16BE(at);
  at += 2;
  if (error !== 0) throw new KafkaError('ListTransactions', error);
  for (let unknownFilters = length(); unknownFilters > 0; unknownFilters--) string();
  return Array.from({ length: length() }, () => {
    const transactionalId = string();
    at += 8; // producer id
    const state = string();
    at += 1; // no tagged fields
    return { transactionalId, state };
  });
}
