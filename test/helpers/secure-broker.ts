import { startBroker, type OwnBroker } from '../../dev/broker.ts';
import { freePorts } from '../../dev/broker/ports.ts';
import { createAuthority, inProperties, type Authority } from './authority.ts';
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts';

/** Of PLAIN and OAUTHBEARER; those of SCRAM are made by `setScramPassword`. */
export const PASSWORDS = { plain: 'plain-secret-31', oauth: 'oauth-secret-47' };
/** The client asks when nine tenths of it are over: what is left has to be enough on a busy machine. */
export const REAUTHENTICATE_MS = 5_000;
const TOKEN_LIFETIME_S = 30;

/**
 * A broker with encryption, credentials and ACLs. At `bootstrapServers` it has neither, and whoever comes that way may
 * do everything: the tests themselves do.
 */
export interface SecureBroker extends OwnBroker {
  readonly authority: Authority;
  /** SASL_SSL: PLAIN, SCRAM-SHA-512 and OAUTHBEARER, each to be repeated on an open connection every 5 s. */
  readonly sasl: string;
  /** SSL with certificates on both sides. The user is the certificate's common name. */
  readonly mutual: string;
  readonly tokens: TokenEndpoint;
}

export async function startSecureBroker(): Promise<SecureBroker> {
  const authority = createAuthority();
  const own = authority.issue('broker');
  const clients = { oauth: PASSWORDS.oauth };
  const tokens = await startTokenEndpoint(authority.issue('tokens'), clients, TOKEN_LIFETIME_S);
  const [sasl, mutual] = await freePorts();
  const broker = await startBroker({
    listeners: [
      { name: 'SASL', protocol: 'SASL_SSL', port: sasl },
      { name: 'MUTUAL', protocol: 'SSL', port: mutual },
    ],
    properties: {
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS',
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.certificate.chain': inProperties(own.certificate),
      'ssl.keystore.key': inProperties(own.key),
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.certificates': inProperties(authority.ca),
      'listener.name.mutual.ssl.client.auth': 'required',
      'listener.name.mutual.ssl.principal.mapping.rules': 'RULE:^CN=([^,]+).*$/$1/',
      ...mechanisms({
        plain: `org.apache.kafka.common.security.plain.PlainLoginModule required user_plain="${PASSWORDS.plain}";`,
        'scram-sha-512': 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
        oauthbearer: 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;',
      }),
      'listener.name.sasl.oauthbearer.sasl.server.callback.handler.class':
        'org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler',
      'listener.name.sasl.oauthbearer.sasl.oauthbearer.jwks.endpoint.url': tokens.jwksUrl,
      'listener.name.sasl.oauthbearer.sasl.oauthbearer.expected.audience': tokens.audience,
      'listener.name.sasl.oauthbearer.sasl.oauthbearer.expected.issuer': tokens.issuer,
    },
    systemProperties: { 'org.apache.kafka.sasl.oauthbearer.allowed.urls': tokens.jwksUrl },
  });
  return {
    ...broker,
    authority,
    tokens,
    sasl: `127.0.0.1:${sasl}`,
    mutual: `127.0.0.1:${mutual}`,
    async remove() {
      await broker.remove();
      tokens.close();
      authority.remove();
    },
  };
}

function mechanisms(loginModules: Readonly<Record<string, string>>): Record<string, string> {
  const names = Object.keys(loginModules).map((name) => name.toUpperCase());
  const properties: Record<string, string> = { 'listener.name.sasl.sasl.enabled.mechanisms': names.join(',') };
  for (const [name, module] of Object.entries(loginModules)) {
    properties[`listener.name.sasl.${name}.sasl.jaas.config`] = module;
    properties[`listener.name.sasl.${name}.connections.max.reauth.ms`] = String(REAUTHENTICATE_MS);
  }
  return properties;
}
