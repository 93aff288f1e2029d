import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { canInstallPackages, installPackages, missingPackages, onPath, run, say, SetupError } from './system.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const CLIENT = '@confluentinc/kafka-javascript';
/** Under `npm run --silent` the npm that we start would keep its errors to itself. */
const LOG_ERRORS = '--loglevel=error';
const clientFolder = join(root, 'node_modules', CLIENT);

/** What a build of the client needs. On Debian a tool's package has the name of its command. */
const BUILD_TOOLS = ['g++', 'make', 'python3'];
const HEADERS = ['libzstd-dev', 'libssl-dev', 'libcurl4-openssl-dev', 'libsasl2-dev', 'zlib1g-dev'];

/** The packages and the Kafka client's native part, where they are not as `package-lock.json` says. */
export function providePackages() {
  if (!packagesAreInstalled()) {
    say('installing npm packages …');
    // `npm ci` starts anew, and the Kafka client may take minutes to build: what is there is only completed.
    const command = clientLoads() ? ['install', '--no-save'] : ['ci'];
    // The one install script that matters is the client's, which is run below in a way that suits this machine.
    const { ok, output } = run('npm', [...command, '--ignore-scripts', '--no-audit', '--no-fund', LOG_ERRORS], {
      cwd: root,
    });
    if (!ok) throw new SetupError(`npm ${command.join(' ')} failed:\n${output}`);
  }
  if (!clientLoads()) provideClient();
  say('npm packages: as in package-lock.json');
}

function packagesAreInstalled() {
  const installedLock = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedLock)) return false;
  const installed = readLock(installedLock);
  return Object.entries(readLock(join(root, 'package-lock.json'))).every(
    ([path, { version, optional }]) => path === '' || optional === true || installed[path]?.version === version,
  );
}

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, optional?: boolean }>} what is locked, by its path in the project
 */
function readLock(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

function clientLoads() {
  // In a process of its own: a binary for another Node version can end the process that loads it.
  return run(process.execPath, ['-e', `require('${CLIENT}')`], { cwd: root }).ok;
}

function provideClient() {
  const preGyp = createRequire(join(clientFolder, 'package.json')).resolve('@mapbox/node-pre-gyp/bin/node-pre-gyp');
  if (run(process.execPath, [preGyp, 'install'], { cwd: clientFolder }).ok && clientLoads()) return;

  say('no prebuilt Kafka client can be fetched for this machine: it is built from source');
  if (canInstallPackages()) {
    const missing = [...BUILD_TOOLS.filter((tool) => !onPath(tool)), ...missingPackages(HEADERS)];
    if (missing.length > 0) installPackages(missing);
  }
  say('building the Kafka client (one to three minutes, only this once) …');
  const { ok, output } = run('npm', ['rebuild', CLIENT, LOG_ERRORS], { cwd: root, env: buildEnvironment() });
  if (ok && clientLoads()) return;
  throw new SetupError(`${output}
The Kafka client could not be built. It needs a C++ compiler, make, Python 3 and the development files of zstd,
OpenSSL, curl, SASL and zlib. On Debian and Ubuntu: apt-get install ${[...BUILD_TOOLS, ...HEADERS].join(' ')}`);
}

function buildEnvironment() {
  // Against the system's libraries: the default, static build downloads their sources. Not in parallel jobs: its
  // rules do not say all that they need, and it fails.
  const env = { ...process.env, CKJS_LINKING: 'dynamic' };
  const node = dirname(dirname(process.execPath));
  // Node's headers come with most installations of Node; without this they are downloaded.
  return existsSync(join(node, 'include', 'node', 'node.h')) ? { npm_config_nodedir: node, ...env } : env;
}
