import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../../helpers/authority.ts';
import { ConfigFolder } from './configuration-file.ts';

const authority = createAuthority();
const client = authority.issue('client', 'hunter2');
const other = authority.issue('other');
afterAll(() => authority.remove());
const read = (file: string) => readFileSync(file, 'utf8');
const FILES = {
  'ca.pem': read(authority.ca),
  'client.pem': read(client.certificate),
  'client.key': read(client.key),
  'other.key': read(other.key),
  password: 'hunter2\n',
  empty: '\n',
};

/** The given lines are of `kafka`, from line 4 on. */
function folderWith(...lines: string[]): ConfigFolder {
  const kafka = lines.map((line) => `  ${line}\n`).join('');
  const yaml = `application: flights
kafka:
  bootstrapServers: one:9092
${kafka}pipelines:
  route: { input: { topics: [flights] }, transform: ./route.ts, outputs: { late: { topic: flights.late } } }
`;
  return new ConfigFolder(yaml, FILES);
}

const problems = (...lines: string[]) =>
  folderWith(...lines)
    .problems()
    .map((text) => text.replace('flights.yaml:', ''));

describe('how a cluster is reached', () => {
  it('is without encryption and credentials unless said otherwise', () => {
    expect(folderWith().load().cluster).toMatchObject({ tls: null, sasl: null });
  });

  it('is with what the system trusts where tls says no more', () => {
    expect(folderWith('tls: {}').load().cluster.tls).toEqual({
      caPath: null,
      certificatePath: null,
      keyPath: null,
      keyPassword: null,
    });
  });

  it('has paths relative to the file, and secrets that are known as such however they are given', () => {
    const folder = folderWith(
      'tls: { ca: ./ca.pem, certificate: ./client.pem, key: ./client.key, keyPassword: hunter2 }',
      'sasl: { mechanism: SCRAM-SHA-512, username: flights, password: open-sesame }',
    );
    const { cluster, secrets } = folder.load();
    expect(cluster.tls?.keyPath).toBe(join(folder.path, 'client.key'));
    expect(cluster.sasl).toEqual({ mechanism: 'SCRAM-SHA-512', username: 'flights', password: 'open-sesame' });
    expect([...secrets].sort()).toEqual(['hunter2', 'open-sesame']);
  });

  it('takes tokens from an identity provider', () => {
    const folder = folderWith(
      'sasl:',
      '  mechanism: OAUTHBEARER',
      '  oauth: { tokenEndpoint: "https://identity/token", clientId: flights, clientSecret: open-sesame, ca: ca.pem }',
    );
    const { cluster, secrets } = folder.load();
    expect(cluster.sasl).toEqual({
      mechanism: 'OAUTHBEARER',
      oauth: {
        tokenEndpoint: 'https://identity/token',
        clientId: 'flights',
        clientSecret: 'open-sesame',
        scope: null,
        caPath: join(folder.path, 'ca.pem'),
      },
    });
    expect(secrets).toEqual(['open-sesame']);
  });
});

describe('what does not go together', () => {
  it.each([
    ['tls: { certificate: client.pem }', '4:3  kafka.tls: needs certificate and key together, or neither'],
    ['tls: { keyPassword: x }', '4:10  kafka.tls.keyPassword: needs a key beside it that it decrypts'],
    ['sasl: { mechanism: PLAIN, username: me }', '4:3  kafka.sasl: mechanism: PLAIN needs password'],
    [
      'sasl: { mechanism: PLAIN, username: me, password: x, oauth: { tokenEndpoint: "https://a", clientId: b, clientSecret: c } }',
      '4:56  kafka.sasl.oauth: must not stand beside mechanism: PLAIN, which does not take it',
    ],
    [
      'sasl: { mechanism: GSSAPI, username: me }',
      '4:30  kafka.sasl.username: must not stand beside mechanism: GSSAPI, which does not take it',
    ],
    ['sasl: { mechanism: OAUTHBEARER }', '4:3  kafka.sasl: mechanism: OAUTHBEARER needs oauth'],
    [
      'sasl: { mechanism: OAUTHBEARER, oauth: { tokenEndpoint: "https://a", clientId: b } }',
      '4:35  kafka.sasl.oauth: needs clientSecret',
    ],
    [
      'sasl: { mechanism: OAUTHBEARER, oauth: { tokenEndpoint: "https://me:secret@a" } }',
      expect.stringContaining('allowed: an https:// or http:// URL without a user in it'),
    ],
  ])('refuses %s', (line, problem) => {
    expect(problems(line)).toContainEqual(problem);
  });

  it('refuses an address whose scheme says something else', () => {
    const yaml = folderWith('tls: {}');
    expect(problems('tls: {}', 'sasl: { mechanism: PLAIN, username: me, password: x }')).toEqual([]);
    expect(yaml.problems()).toEqual([]);
    expect(new ConfigFolder(read(yaml.file).replace('one:', 'SASL_SSL://one:')).problems()).toEqual([
      'flights.yaml:3:21  kafka.bootstrapServers: found SASL_SSL://one:9092, must not say SASL_SSL:// where kafka.tls and ' +
        'kafka.sasl say SSL: leave it out, and give tls for encryption or sasl for credentials',
    ]);
    expect(new ConfigFolder(read(yaml.file).replace('one:', 'SSL://one:')).problems()).toEqual([]);
  });

  it('lets tokens be had in ways that have no field, but not in two', () => {
    const other = ['properties: { sasl.oauthbearer.method: oidc }'];
    expect(problems('sasl: { mechanism: OAUTHBEARER }', ...other)).toEqual([]);
    const oauth =
      'sasl: { mechanism: OAUTHBEARER, oauth: { tokenEndpoint: "https://a", clientId: b, clientSecret: c } }';
    expect(problems(oauth, ...other)).toEqual([
      '5:17  kafka.properties.sasl.oauthbearer.method: must not stand beside kafka.sasl.oauth',
    ]);
  });
});

describe('files that can not be used', () => {
  it.each([
    [
      'tls: { ca: nowhere.pem }',
      '4:14  kafka.tls.ca: found nowhere.pem, can not be read (no such file): see that the file is there and readable',
    ],
    // That there is nothing in it is no secret.
    [
      'sasl: { mechanism: PLAIN, username: me, password: "${file:empty}" }',
      '4:53  kafka.sasl.password: found "" (from ${file:empty}), allowed: text; what YAML would read as something else needs quotes',
    ],
    ['tls: { ca: password }', '4:14  kafka.tls.ca: found password, must be the path of a certificate in PEM'],
    [
      'tls: { certificate: client.pem, key: client.key, keyPassword: wrong }',
      '4:40  kafka.tls.key: found client.key, must be the path of a private key in PEM that keyPassword decrypts, if it is encrypted',
    ],
    [
      'tls: { certificate: client.pem, key: other.key }',
      '4:40  kafka.tls.key: found other.key, must be the private key of certificate, and is that of another one',
    ],
  ])('are named: %s', (line, problem) => {
    expect(problems(line)).toEqual([problem]);
  });
});
