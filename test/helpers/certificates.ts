import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificates {
  /** PEM files: an authority, and a certificate of it for 127.0.0.1 as well as for a client. */
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  remove(): void;
}

/** Made by `openssl`, in a temporary folder. */
export function createCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-certificates-'));
  const path = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=test authority',
  );
  openssl('req', ...newKey, '-keyout', 'own.key', '-out', 'own.csr', '-subj', '/CN=127.0.0.1');
  writeFileSync(path('extensions'), 'subjectAltName=IP:127.0.0.1\n');
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'extensions'];
  openssl('x509', '-req', '-in', 'own.csr', ...signing, '-out', 'own.pem');
  return {
    ca: path('ca.pem'),
    certificate: path('own.pem'),
    key: path('own.key'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
