import { once } from 'node:events';
import { connect } from 'node:net';

const LIST_TRANSACTIONS = 66;
const CLIENT_ID = 'millrace-tests';
const TIMEOUT_MS = 5_000;

export interface ListedTransaction {
  readonly transactionalId: string;
  /** As the broker names it: Ongoing, PrepareCommit, CompleteAbort, … */
  readonly state: string;
}

/**
 * The transactions that one broker coordinates. The Kafka client has no call for it, so this speaks the protocol:
 * ListTransactions version 0.
 */
export async function listTransactions(host: string, port: number): Promise<ListedTransaction[]> {
  const socket = connect({ host, port, timeout: TIMEOUT_MS });
  socket.once('timeout', () => socket.destroy(new Error(`${host}:${port} did not answer ListTransactions`)));
  try {
    await once(socket, 'connect');
    socket.write(request());
    let received = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      if (received.length >= 4 && received.length >= 4 + received.readInt32BE()) return parse(received);
    }
    throw new Error(`${host}:${port} closed the connection instead of answering ListTransactions`);
  } finally {
    socket.destroy();
  }
}

function request(): Buffer {
  const name = Buffer.from(CLIENT_ID);
  const header = Buffer.alloc(14);
  header.writeInt32BE(header.length - 4 + name.length + 4);
  header.writeInt16BE(LIST_TRANSACTIONS, 4);
  header.writeInt16BE(0, 6); // version
  header.writeInt32BE(1, 8); // correlation id
  header.writeInt16BE(name.length, 12);
  // No tagged fields in the header; two empty filters; no tagged fields in the body.
  return Buffer.concat([header, name, Buffer.from([0, 1, 1, 0])]);
}

/** A compact array's or string's length stands one too high, in groups of seven bits. */
function parse(response: Buffer): ListedTransaction[] {
  let at = 4 + 4 + 1; // size, correlation id, no tagged fields
  const length = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = response.readUInt8(at++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value - 1;
    }
  };
  const string = (): string => {
    const size = length();
    at += size;
    return response.toString('utf8', at - size, at);
  };

  at += 4; // throttle time
  const error = response.readInt16BE(at);
  at += 2;
  if (error !== 0) throw new Error(`ListTransactions failed with Kafka's error ${error}`);
  for (let unknownFilters = length(); unknownFilters > 0; unknownFilters--) string();
  return Array.from({ length: length() }, () => {
    const transactionalId = string();
    at += 8; // producer id
    const state = string();
    at += 1; // no tagged fields
    return { transactionalId, state };
  });
}
