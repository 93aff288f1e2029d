import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A step of the set-up that cannot succeed here; the message says what the user can do. */
export class SetupError extends Error {}

/** @param {string} line */
export function say(line) {
  console.log(`setup: ${line}`);
}

/** @param {string} command */
export function onPath(command) {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)));
}

/**
 * Runs a command quietly: its output is shown only when it fails.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number | undefined }} [options] what runs longer is ended, and has failed
 * @returns {{ ok: boolean, output: string }}
 */
export function run(command, args, { cwd, env = process.env, timeoutMs } = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
    timeout: timeoutMs,
  });
  if (error) return { ok: false, output: error.message };
  return { ok: status === 0, output: `${stdout}${stderr}` };
}

/** Debian and its relatives, as root: elsewhere system packages are the user's to install. */
export function canInstallPackages() {
  return process.platform === 'linux' && process.getuid?.() === 0 && onPath('apt-get');
}

let listsRead = false;

/** The package lists of a fresh image are empty, so they are read before their first use. */
export function readPackageLists() {
  if (listsRead) return;
  run('apt-get', ['update', '-q']);
  listsRead = true;
}

/** @param {string} name a Debian package */
export function packageExists(name) {
  readPackageLists();
  return run('apt-cache', ['show', '-q', name]).ok;
}

/** @param {readonly string[]} names Debian packages */
export function missingPackages(names) {
  return names.filter((name) => !run('dpkg', ['--status', name]).ok);
}

/**
 * A failure is told and no more: what is missing shows in the next step, which knows what it means.
 *
 * @param {readonly string[]} names Debian packages
 */
export function installPackages(names) {
  say(`installing ${names.join(' ')} (apt-get) …`);
  readPackageLists();
  const { ok, output } = run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...names], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (!ok) say(`apt-get could not install them:\n${output}`);
}
