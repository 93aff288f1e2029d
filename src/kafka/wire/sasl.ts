import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SaslConfig } from '../../config/compiled.ts';
import { accessToken } from './access-token.ts';
import type { Ask } from './connection.ts';
import { bytes, Reader, string } from './encoding.ts';

const SASL_HANDSHAKE = 17;
const SASL_AUTHENTICATE = 36;

/** Whether nothing but the Kafka client can authenticate so. */
export const isForClientOnly = (sasl: SaslConfig): boolean =>
  sasl.mechanism === 'GSSAPI' || (sasl.mechanism === 'OAUTHBEARER' && !sasl.oauth);

/** Makes a connection that of a user (KIP-43, KIP-152). @throws Error when the broker does not take the credentials. */
export async function authenticate(ask: Ask, sasl: SaslConfig): Promise<void> {
  const handshake = new Reader(await ask({ apiKey: SASL_HANDSHAKE, version: 1, body: string(sasl.mechanism) }));
  if (handshake.int16() !== 0) throw new Error(`the broker does not offer ${sasl.mechanism}`);
  const exchange = async (content: string): Promise<string> => {
    const body = bytes(Buffer.from(content));
    const response = new Reader(await ask({ apiKey: SASL_AUTHENTICATE, version: 0, body }));
    const error = response.int16();
    const message = response.string();
    if (error !== 0) throw new Error(message ?? `the broker does not take the credentials (code ${error})`);
    return response.bytes().toString();
  };
  switch (sasl.mechanism) {
    case 'PLAIN':
      await exchange(`\0${sasl.username}\0${sasl.password}`);
      return;
    case 'SCRAM-SHA-256':
      return scram('sha256', sasl, exchange);
    case 'SCRAM-SHA-512':
      return scram('sha512', sasl, exchange);
    case 'OAUTHBEARER':
      if (!sasl.oauth) throw new Error('tokens are had in a way that only the Kafka client knows');
      await exchange(`n,,\x01auth=Bearer ${await accessToken(sasl.oauth)}\x01\x01`);
      return;
    case 'GSSAPI':
      throw new Error('only the Kafka client knows GSSAPI');
  }
}

type Exchange = (content: string) => Promise<string>;

/** RFC 5802, without channel binding. */
async function scram(
  digest: 'sha256' | 'sha512',
  { username, password }: { readonly username: string; readonly password: string },
  exchange: Exchange,
): Promise<void> {
  const name = username.replaceAll('=', '=3D').replaceAll(',', '=2C');
  const nonce = randomBytes(24).toString('base64url');
  const first = `n=${name},r=${nonce}`;
  const serverFirst = await exchange(`n,,${first}`);
  const { r: both = '', s: salt = '', i: iterations = '' } = attributes(serverFirst);
  if (!both.startsWith(nonce)) throw new Error('the broker answers to another exchange');

  const hmac = (key: Buffer, text: string) => createHmac(digest, key).update(text).digest();
  const length = digest === 'sha256' ? 32 : 64;
  const salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), Number(iterations), length, digest);
  const clientKey = hmac(salted, 'Client Key');
  const storedKey = createHash(digest).update(clientKey).digest();
  const final = `c=biws,r=${both}`;
  const exchanged = `${first},${serverFirst},${final}`;
  const signature = hmac(storedKey, exchanged);
  const proof = clientKey.map((byte, index) => byte ^ (signature[index] ?? 0));
  const { v: verifier = '' } = attributes(await exchange(`${final},p=${Buffer.from(proof).toString('base64')}`));

  const expected = hmac(hmac(salted, 'Server Key'), exchanged);
  const shown = Buffer.from(verifier, 'base64');
  if (shown.length !== length || !timingSafeEqual(shown, expected)) {
    throw new Error('the broker does not know the password itself');
  }
}

function attributes(message: string): Readonly<Record<string, string>> {
  return Object.fromEntries(message.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));
}
