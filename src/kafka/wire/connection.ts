import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, isIP, type Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { connect as connectSecurely } from 'node:tls';
import type { ClusterConfig, TlsConfig } from '../../config/compiled.ts';
import { int16, int32, string } from './encoding.ts';
import { authenticate } from './sasl.ts';

/** No answer to what is asked here comes near it. */
const MAX_RESPONSE_BYTES = 16 << 20;

export interface Address {
  readonly host: string;
  readonly port: number;
}

interface Request {
  readonly apiKey: number;
  readonly version: number;
  /** With the header's tagged fields before it, in versions that have them. */
  readonly body: Buffer;
}

/** Sends one request after the other; resolves to the response behind its correlation id. */
export type Ask = (request: Request) => Promise<Buffer>;

export interface ConnectionOptions {
  readonly clientId: string;
  /** How long one answer may take. */
  readonly timeoutMs: number;
  /** Breaks the connection off. */
  readonly signal: AbortSignal;
}

/** One connection to one broker for what the client has no call for. No records are read or written through it. */
export interface BrokerConnection {
  readonly ask: Ask;
  close(): void;
}

/** @throws Error when the broker can't be reached so, or does not take the credentials. */
export async function openConnection(
  cluster: ClusterConfig,
  address: Address,
  { clientId, timeoutMs, signal }: ConnectionOptions,
): Promise<BrokerConnection> {
  signal.throwIfAborted();
  const socket = cluster.tls ? secure(cluster.tls, address) : connect({ host: address.host, port: address.port });
  addAbortSignal(signal, socket);
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no answer in time')));
  // Told by the question that waits for the answer; without one there is nobody to tell.
  socket.on('error', () => undefined);
  try {
    await once(socket, cluster.tls ? 'secureConnect' : 'connect');
    const ask = asking(socket, clientId);
    if (cluster.sasl) await authenticate(ask, cluster.sasl);
    return { ask, close: () => void socket.destroy() };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function secure({ caPath, certificatePath, keyPath, keyPassword }: TlsConfig, { host, port }: Address): Socket {
  return connectSecurely({
    host,
    port,
    ...(isIP(host) === 0 && { servername: host }),
    ...(caPath !== null && { ca: readFileSync(caPath) }),
    ...(certificatePath !== null && { cert: readFileSync(certificatePath) }),
    ...(keyPath !== null && { key: readFileSync(keyPath) }),
    ...(keyPassword !== null && { passphrase: keyPassword }),
  });
}

function asking(socket: Socket, clientId: string): Ask {
  const frames = framesOf(socket);
  let correlation = 0;
  return async ({ apiKey, version, body }) => {
    const content = Buffer.concat([int16(apiKey), int16(version), int32(++correlation), string(clientId), body]);
    socket.write(Buffer.concat([int32(content.length), content]));
    const frame = await frames.next();
    if (frame.done === true) throw new Error('the broker closed the connection');
    // The correlation id comes first; one question at a time, it can only be that of this one.
    return frame.value.subarray(4);
  };
}

async function* framesOf(socket: Socket): AsyncGenerator<Buffer, undefined> {
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk as Buffer]);
    while (received.length >= 4) {
      const length = received.readInt32BE();
      if (length < 4 || length > MAX_RESPONSE_BYTES) throw new Error('the answer is not of the Kafka protocol');
      if (received.length < 4 + length) break;
      yield received.subarray(4, 4 + length);
      received = received.subarray(4 + length);
    }
  }
  return undefined;
}
