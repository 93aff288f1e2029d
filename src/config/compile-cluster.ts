import { resolve } from 'node:path';
import { propertiesFor } from './client-spec.ts';
import type { ClusterConfig, SaslConfig } from './compiled.ts';
import type { Configuration } from './spec.ts';

type Kafka = Configuration['kafka'];

/** Rules have seen to it that each mechanism has what it needs. */
export function compileCluster({ bootstrapServers, tls, sasl, properties }: Kafka, folder: string): ClusterConfig {
  const file = (path: string | undefined) => (path === undefined ? null : resolve(folder, path));
  return {
    bootstrapServers: [bootstrapServers].flat().join(','),
    tls: tls
      ? {
          caPath: file(tls.ca),
          certificatePath: file(tls.certificate),
          keyPath: file(tls.key),
          keyPassword: tls.keyPassword ?? null,
        }
      : null,
    sasl: sasl ? compileSasl(sasl, file) : null,
    properties: propertiesFor('producer', properties),
  };
}

function compileSasl(
  { mechanism, username = '', password = '', oauth }: NonNullable<Kafka['sasl']>,
  file: (path: string | undefined) => string | null,
): SaslConfig {
  switch (mechanism) {
    case 'GSSAPI':
      return { mechanism };
    case 'OAUTHBEARER': {
      const { tokenEndpoint, clientId = null, clientSecret = null, scope = null, ca } = oauth ?? {};
      if (tokenEndpoint === undefined) return { mechanism, oauth: null };
      return { mechanism, oauth: { tokenEndpoint, clientId, clientSecret, scope, caPath: file(ca) } };
    }
    default:
      return { mechanism, username, password };
  }
}
