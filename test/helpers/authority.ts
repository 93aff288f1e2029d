import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its private key, as PEM files. */
export interface Identity {
  readonly certificate: string;
  readonly key: string;
}

/** An authority of one's own, in a temporary folder. */
export interface Authority {
  /** Its certificate, as a PEM file. */
  readonly ca: string;
  /** A certificate for that name as well as for 127.0.0.1; the key is encrypted where a password is given. */
  issue(commonName: string, password?: string): Identity;
  remove(): void;
}

/** Made by `openssl`. */
export function createAuthority(name = 'test authority'): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-certificates-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const authority = ['-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', `/CN=${name}`];
  openssl('req', '-x509', ...newKey, '-nodes', ...authority);
  writeFileSync(join(folder, 'extensions'), 'subjectAltName=IP:127.0.0.1\n');
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'extensions'];

  return {
    ca: join(folder, 'ca.pem'),
    issue(commonName, password) {
      const [key, request, certificate] = ['key', 'csr', 'pem'].map((kind) => `${commonName}.${kind}`) as [
        string,
        string,
        string,
      ];
      const secrecy = password === undefined ? ['-nodes'] : ['-passout', `pass:${password}`];
      openssl('req', ...newKey, ...secrecy, '-keyout', key, '-out', request, '-subj', `/CN=${commonName}`);
      openssl('x509', '-req', '-in', request, ...signing, '-out', certificate);
      return { certificate: join(folder, certificate), key: join(folder, key) };
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** On one line, as broker properties take PEM. */
export const inProperties = (pemFile: string): string => readFileSync(pemFile, 'utf8').trim().replaceAll('\n', '\\n');
