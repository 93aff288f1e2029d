import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Client } from 'pg';

import type { Identity } from './authority.ts';
import { freePorts } from '../../dev/broker/ports.ts';
import { onceGone } from '../../dev/guard.ts';
import { waitFor } from './wait.ts';

const USER = 'millrace';
const PASSWORD = 'only-for-tests';

/** What makes it small and quick; a crash of the server loses nothing all the same, only one of the machine would. */
const SETTINGS = [
  'fsync=off',
  'shared_buffers=16MB',
  'max_connections=40',
  'unix_socket_directories=',
  'listen_addresses=127.0.0.1',
  // Soon found, as the tests wait for them.
  'deadlock_timeout=50ms',
];

export interface Postgres {
  readonly port: number;
  /** For a database of its own, or the superuser's. */
  url(database?: string): string;
  /** A new, empty database; gives its URL. */
  createDatabase(): Promise<string>;
  start(): Promise<void>;
  /** Ends it in order; sessions are cut. */
  stop(): Promise<void>;
  /** SIGKILL to all of its processes, as in a crash. */
  kill(): Promise<void>;
  /** SIGSTOP to all of its processes: it accepts connections and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** Ends it and deletes what it stored. */
  remove(): Promise<void>;
}

/**
 * Starts a new PostgreSQL on a free port, with temporary files of its own; resolves when it answers. It ends with this
 * process, however that ends. With an identity it takes TLS connections, too.
 */
export async function startPostgres(identity?: Identity): Promise<Postgres> {
  const programs = findPrograms();
  const owner = findOwner();
  const [port] = await freePorts();
  const folder = mkdtempSync(join(tmpdir(), 'millrace-postgres-'));
  const cluster = join(folder, 'cluster');
  const logFile = join(folder, 'log');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  chmodSync(folder, 0o755);
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid ?? owner.uid);
  const tls = identity ? installCertificate(identity, folder, owner) : [];
  const guard = onceGone(
    `[ -f '${cluster}/postmaster.pid' ] && pid=$(head -n 1 '${cluster}/postmaster.pid') && kill -QUIT $pid && kill -CONT $pid && sleep 1; rm -rf '${folder}'`,
  );
  await promisify(execFile)(
    join(programs, 'initdb'),
    [
      '-D',
      cluster,
      '-U',
      USER,
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
    ],
    { ...owner, cwd: folder },
  );

  let server: ChildProcess | null = null;
  let databases = 0;
  const url = (database = 'postgres') => `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}`;
  const logEnd = () => readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-20).join('\n');

  async function start() {
    if (server) throw new Error('PostgreSQL runs already');
    const log = openSync(logFile, 'a');
    const settings = [...SETTINGS, ...tls, `port=${port}`].flatMap((setting) => ['-c', setting]);
    const child = spawn(join(programs, 'postgres'), ['-D', cluster, ...settings], {
      ...owner,
      cwd: folder,
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.unref();
    server = child;
    child.once('exit', () => (server = null));
    await waitFor('PostgreSQL to answer', () => {
      if (!server) throw new Error(`PostgreSQL ended while it started; the end of its log:\n${logEnd()}`);
      return answers(url());
    });
  }

  /** The server's first process and its children, each of which is in a process group of its own. */
  function processes(): readonly number[] {
    if (!server?.pid) return [];
    const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8');
    return [server.pid, ...children.split(' ').filter(Boolean).map(Number)];
  }

  function signalAll(signal: NodeJS.Signals) {
    for (const pid of processes()) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        // A session that ended by itself meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  async function end(tell: (child: ChildProcess) => void) {
    if (!server) return;
    const exited = once(server, 'exit');
    server.ref();
    tell(server);
    await exited;
  }

  const postgres: Postgres = {
    port,
    url,
    async createDatabase() {
      databases += 1;
      const name = `test_${databases}`;
      await withClient(url(), (client) => client.query(`CREATE DATABASE ${name}`));
      return url(name);
    },
    start,
    stop: () => end((child) => child.kill('SIGINT')),
    kill: () => end(() => signalAll('SIGKILL')),
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async remove() {
      await end(() => signalAll('SIGKILL'));
      await guard.release();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await start();
  } catch (error) {
    await postgres.remove();
    throw error;
  }
  return postgres;
}

export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The settings for it. PostgreSQL wants the key to be its owner's alone. */
function installCertificate({ certificate, key }: Identity, folder: string, owner: { uid?: number; gid?: number }) {
  const own = { certificate: join(folder, 'server.pem'), key: join(folder, 'server.key') };
  copyFileSync(certificate, own.certificate);
  copyFileSync(key, own.key);
  chmodSync(own.key, 0o600);
  if (owner.uid !== undefined)
    for (const file of Object.values(own)) chownSync(file, owner.uid, owner.gid ?? owner.uid);
  return ['ssl=on', `ssl_cert_file=${own.certificate}`, `ssl_key_file=${own.key}`];
}

/** The newest that Debian's packages installed, which keep the server's programs out of PATH. */
function findPrograms(): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
  if (found === undefined) throw new Error('these tests need PostgreSQL: apt-get install postgresql-15');
  return found;
}

/** PostgreSQL refuses to run as root. */
function findOwner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function answers(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query('SELECT 1'));
    return true;
  } catch {
    // Not yet: it is asked again until the deadline.
    return false;
  }
}
