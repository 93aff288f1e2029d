import type { ClusterConfig, OauthConfig, SaslConfig, TlsConfig } from '../config/compiled.ts';
import type { NativeConf } from './native.ts';

/** How the client reaches a cluster, in librdkafka's words. The configuration has refused these names elsewhere. */
export function clusterProperties({ bootstrapServers, tls, sasl }: ClusterConfig): NativeConf {
  return {
    'bootstrap.servers': bootstrapServers,
    'security.protocol': `${sasl ? 'sasl_' : ''}${tls ? 'ssl' : 'plaintext'}`,
    ...(tls && tlsProperties(tls)),
    ...(sasl && saslProperties(sasl)),
  };
}

function tlsProperties({ caPath, certificatePath, keyPath, keyPassword }: TlsConfig): NativeConf {
  return given({
    'ssl.ca.location': caPath,
    'ssl.certificate.location': certificatePath,
    'ssl.key.location': keyPath,
    'ssl.key.password': keyPassword,
  });
}

function saslProperties(sasl: SaslConfig): NativeConf {
  const mechanism = { 'sasl.mechanism': sasl.mechanism };
  switch (sasl.mechanism) {
    case 'GSSAPI':
      return mechanism;
    case 'OAUTHBEARER':
      return { ...mechanism, ...(sasl.oauth && oauthProperties(sasl.oauth)) };
    default:
      return { ...mechanism, 'sasl.username': sasl.username, 'sasl.password': sasl.password };
  }
}

function oauthProperties({ tokenEndpoint, clientId, clientSecret, scope, caPath }: OauthConfig): NativeConf {
  return given({
    'sasl.oauthbearer.method': 'oidc',
    'sasl.oauthbearer.token.endpoint.url': tokenEndpoint,
    'sasl.oauthbearer.client.id': clientId,
    'sasl.oauthbearer.client.secret': clientSecret,
    'sasl.oauthbearer.scope': scope,
    'https.ca.location': caPath,
  });
}

function given(properties: Readonly<Record<string, string | null>>): NativeConf {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null));
}
