import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';

import type { Identity } from './authority.ts';

const ISSUER = 'test-issuer';
const AUDIENCE = 'test-cluster';

/** An identity provider of one's own: OAuth 2.0 client credentials for tokens, and the keys to verify these with. */
export interface TokenEndpoint {
  readonly issuer: string;
  readonly audience: string;
  /** Where clients get tokens, by HTTPS. */
  readonly url: string;
  /** Where brokers get the keys, by HTTP. */
  readonly jwksUrl: string;
  /** How many tokens were given out. */
  readonly issued: number;
  close(): void;
}

/** @param clients Secrets by client id, which becomes the token's subject. */
export async function startTokenEndpoint(
  identity: Identity,
  clients: Readonly<Record<string, string>>,
  lifetimeSeconds: number,
): Promise<TokenEndpoint> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: '1', use: 'sig', alg: 'RS256' }] };
  let issued = 0;

  function token(subject: string): string {
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: subject, iat: now, exp: now + lifetimeSeconds };
    const signed = [{ alg: 'RS256', typ: 'JWT', kid: '1' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
  }

  async function answer(request: IncomingMessage): Promise<object | undefined> {
    await text(request);
    const [, encoded = ''] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? [];
    const [id = '', secret = ''] = Buffer.from(encoded, 'base64').toString().split(':').map(decodeURIComponent);
    if (secret === '' || clients[id] !== secret) return undefined;
    issued++;
    return { access_token: token(id), token_type: 'Bearer', expires_in: lifetimeSeconds };
  }

  const tls = { key: readFileSync(identity.key), cert: readFileSync(identity.certificate) };
  const tokens = createSecureServer(tls, (request, response) => {
    void answer(request).then((body) => {
      response.writeHead(body ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? { error: 'invalid_client' }));
    });
  });
  const keys = createServer((_, response) => response.end(JSON.stringify(jwks)));
  return {
    issuer: ISSUER,
    audience: AUDIENCE,
    url: `https://127.0.0.1:${await listening(tokens)}/token`,
    jwksUrl: `http://127.0.0.1:${await listening(keys)}/jwks`,
    get issued() {
      return issued;
    },
    close() {
      for (const server of [tokens, keys]) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
