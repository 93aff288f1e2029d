import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { either } from './fields.ts';
import type { ConfigSource } from './source.ts';
import type { Configuration } from './spec.ts';
import type { Path } from './syntax.ts';
import type { Salvaged } from './validate.ts';
import { whyUnreadable } from './why-unreadable.ts';

type Kafka = Salvaged<Configuration['kafka']>;
type Sasl = NonNullable<NonNullable<Kafka>['sasl']>;
type Tls = NonNullable<NonNullable<Kafka>['tls']>;

const TLS: Path = ['kafka', 'tls'];
const SASL: Path = ['kafka', 'sasl'];
const OAUTH: Path = [...SASL, 'oauth'];
const PROPERTIES: Path = ['kafka', 'properties'];

/** What does not go together in how a cluster is reached, and files that can not be used for it. */
export function checkSecurity(kafka: Kafka, source: ConfigSource): void {
  if (kafka?.tls) checkTls(kafka.tls, source);
  if (kafka?.sasl?.mechanism !== undefined) checkSasl(kafka.sasl, kafka.sasl.mechanism, source);
  checkSchemes(kafka, source);
}

function checkTls({ ca, certificate, key, keyPassword }: Tls, source: ConfigSource): void {
  if (source.has([...TLS, 'certificate']) !== source.has([...TLS, 'key'])) {
    source.reportKey(TLS, 'needs certificate and key together, or neither');
  }
  if (keyPassword !== undefined && !source.has([...TLS, 'key'])) {
    source.reportKey([...TLS, 'keyPassword'], 'needs a key beside it that it decrypts');
  }
  readPem([...TLS, 'ca'], ca, source, toCertificate);
  const shown = readPem([...TLS, 'certificate'], certificate, source, toCertificate);
  const own = readPem([...TLS, 'key'], key, source, (pem) =>
    createPrivateKey({ key: pem, ...(keyPassword !== undefined && { passphrase: keyPassword }) }),
  );
  if (shown && own && !shown.checkPrivateKey(own)) {
    source.report([...TLS, 'key'], 'must be the private key of certificate, and is that of another one');
  }
}

function checkSasl({ username, password, oauth }: Sasl, mechanism: string, source: ConfigSource): void {
  const needed = mechanism === 'OAUTHBEARER' ? ['oauth'] : mechanism === 'GSSAPI' ? [] : ['username', 'password'];
  const given = { username, password, oauth };
  for (const [field, value] of Object.entries(given)) {
    if (value !== undefined && !needed.includes(field)) {
      source.reportKey([...SASL, field], `must not stand beside mechanism: ${mechanism}, which does not take it`);
    }
  }
  // Tokens may be had in other ways, which have no fields.
  const hasOwnWay = source.has([...PROPERTIES, 'sasl.oauthbearer.method']);
  const missing = needed.filter((field) => !source.has([...SASL, field]));
  if (missing.length > 0 && !(mechanism === 'OAUTHBEARER' && hasOwnWay)) {
    source.reportKey(SASL, `mechanism: ${mechanism} needs ${missing.join(' and ')}`);
  }
  if (!oauth) return;
  if (hasOwnWay) {
    source.reportKey([...PROPERTIES, 'sasl.oauthbearer.method'], 'must not stand beside kafka.sasl.oauth');
  }
  const hasAssertion = source.has([...PROPERTIES, 'sasl.oauthbearer.grant.type']);
  const absent = ['clientId', 'clientSecret'].filter((field) => !source.has([...OAUTH, field]));
  if (absent.length > 0 && !hasAssertion) source.reportKey(OAUTH, `needs ${absent.join(' and ')}`);
  readPem([...OAUTH, 'ca'], oauth.ca, source, toCertificate);
}

/** `SASL_SSL://` in front of an address says the same as `tls` and `sasl`, or something else. */
function checkSchemes(kafka: Kafka, source: ConfigSource): void {
  const protocol = `${source.has(SASL) ? 'SASL_' : ''}${source.has(TLS) ? 'SSL' : 'PLAINTEXT'}`;
  const given = [kafka?.bootstrapServers].flat().filter((each) => typeof each === 'string');
  const servers = given.flatMap((each) => each.split(','));
  const other = servers
    .map((server) => /^ ?(\w+):\/\//.exec(server)?.[1])
    .find((scheme) => scheme && scheme !== protocol);
  if (other === undefined) return;
  source.report(
    ['kafka', 'bootstrapServers'],
    `must not say ${other}:// where kafka.tls and kafka.sasl say ${protocol}: leave it out, and give ` +
      either(['tls for encryption', 'sasl for credentials']),
  );
}

function toCertificate(pem: Buffer): X509Certificate {
  return new X509Certificate(pem);
}

function readPem<T>(
  at: Path,
  file: string | undefined,
  source: ConfigSource,
  parse: (pem: Buffer) => T,
): T | undefined {
  if (file === undefined) return undefined;
  let pem: Buffer;
  try {
    pem = readFileSync(resolve(source.folder, file));
  } catch (error) {
    source.report(at, `can not be read (${whyUnreadable(error)}): see that the file is there and readable`);
    return undefined;
  }
  try {
    return parse(pem);
  } catch {
    // What the parser says is OpenSSL's own number of an error; a wrong password is one of many.
    const what =
      at.at(-1) === 'key'
        ? 'a private key in PEM that keyPassword decrypts, if it is encrypted'
        : 'a certificate in PEM';
    source.report(at, `must be the path of ${what}`);
    return undefined;
  }
}
