import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { z } from 'zod';
import type { OauthConfig } from '../../config/compiled.ts';

const TIMEOUT_MS = 10_000;
const Token = z.object({ access_token: z.string().min(1) });

/** By client credentials (RFC 6749, 4.4). @throws Error when none is given. */
export async function accessToken(oauth: OauthConfig): Promise<string> {
  const { tokenEndpoint, clientId, clientSecret, scope, caPath } = oauth;
  if (clientId === null || clientSecret === null)
    throw new Error('a grant that only the Kafka client knows is asked for');
  const dispatcher = new Agent({ connect: caPath === null ? {} : { ca: readFileSync(caPath) } });
  try {
    const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
    const { statusCode, body } = await request(tokenEndpoint, {
      dispatcher,
      method: 'POST',
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      headers: {
        authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== null && { scope }) }).toString(),
    });
    if (statusCode !== 200) throw new Error(`the token endpoint answers with status ${statusCode}`);
    return Token.parse(await body.json()).access_token;
  } finally {
    await dispatcher.close();
  }
}
