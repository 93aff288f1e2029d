import { once } from 'node:events';
import { connect } from 'node:net';

const CLIENT_ID = 'millrace-tests';
const TIMEOUT_MS = 5_000;

export interface RawRequest {
  readonly apiKey: number;
  readonly version: number;
  /** Versions that know tagged fields have them in the headers too. */
  readonly isFlexible: boolean;
  readonly body: Buffer;
}

/** Asks one broker what the Kafka client has no call for; returns the response's body. */
export async function askBroker(host: string, port: number, request: RawRequest): Promise<Buffer> {
  const socket = connect({ host, port, timeout: TIMEOUT_MS });
  socket.once('timeout', () => socket.destroy(new Error(`${host}:${port} did not answer request ${request.apiKey}`)));
  try {
    await once(socket, 'connect');
    socket.write(encode(request));
    let received = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      const isComplete = received.length >= 4 && received.length >= 4 + received.readInt32BE();
      // Before the body: size, correlation id, and the tagged fields, of which there are none.
      if (isComplete) return received.subarray(request.isFlexible ? 9 : 8);
    }
    throw new Error(`${host}:${port} closed the connection instead of answering request ${request.apiKey}`);
  } finally {
    socket.destroy();
  }
}

function encode({ apiKey, version, isFlexible, body }: RawRequest): Buffer {
  const rest = Buffer.concat([
    int16(apiKey),
    int16(version),
    int32(1),
    string(CLIENT_ID),
    bytes(isFlexible ? [0] : []),
    body,
  ]);
  return Buffer.concat([int32(rest.length), rest]);
}

export const bytes = (values: readonly number[]): Buffer => Buffer.from(values);

export function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeInt16BE(value);
  return buffer;
}

export function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

/** Of the kind that versions without tagged fields use. */
export const string = (text: string): Buffer => Buffer.concat([int16(Buffer.byteLength(text)), Buffer.from(text)]);
