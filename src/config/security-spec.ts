import * as z from 'zod';
import { choice, path, text } from './fields.ts';

/** How a cluster knows us, and we know it. */

export const tls = z.strictObject({
  ca: path('./ca.pem')
    .optional()
    .describe('PEM file of the authorities to trust in place of those that the system trusts.'),
  certificate: path('./client.pem')
    .optional()
    .describe('PEM file of the certificate to show to the brokers, with what leads up to its authority.'),
  key: path('./client.key').optional().describe('PEM file of its private key.'),
  keyPassword: text().optional().describe('What the key is encrypted with. Give it as `${file:…}`.'),
});

const oauth = z.strictObject({
  tokenEndpoint: z
    .string()
    .regex(/^https?:\/\/[^\s/@?#]+(\/\S*)?$/)
    .describe('Where access tokens are asked for.')
    .meta({ allowed: 'an https:// or http:// URL without a user in it' }),
  clientId: text().optional().describe('Who asks.'),
  clientSecret: text().optional().describe('The secret of the client. Give it as `${file:…}`.'),
  scope: text().optional().describe('What is asked for, as the identity provider takes it.'),
  ca: path('./identity-ca.pem')
    .optional()
    .describe('PEM file of the authorities to trust at the endpoint in place of those that the system trusts.'),
});

export const sasl = z.strictObject({
  mechanism: choice('PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER', 'GSSAPI').describe(
    'One that the brokers offer. `OAUTHBEARER` needs `oauth`; `GSSAPI` takes `sasl.kerberos.*` from `kafka.properties`; ' +
      'the others need `username` and `password`.',
  ),
  username: text().optional().describe('Who we are.'),
  password: text().optional().describe('The password. Give it as `${file:…}`.'),
  oauth: oauth.optional().describe('An identity provider that gives access tokens for client credentials (OIDC).'),
});
