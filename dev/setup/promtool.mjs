import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { onPath, readPackageLists, run, say } from './system.mjs';

const cache = fileURLToPath(new URL('../../.cache/', import.meta.url));
const fetched = join(cache, 'promtool');
/** Debian has it together with the server. */
const PACKAGE = 'prometheus';

/** Prometheus' own tool, by which the tests try the alert rules. Without it everything else works. */
export function providePromtool() {
  if (findPromtool() !== undefined) return say('promtool: there');
  if (!onPath('apt-get') || !onPath('dpkg-deb'))
    return say(`promtool: not there; the tests of the alert rules need it`);
  say(`fetching promtool (${PACKAGE} from apt-get) …`);
  const why = fetchPromtool();
  say(why === null ? 'promtool: fetched' : `promtool: not there; the tests of the alert rules need it: ${why}`);
}

/** Its command, or undefined. */
export function findPromtool() {
  if (onPath('promtool')) return 'promtool';
  return existsSync(fetched) ? fetched : undefined;
}

/**
 * Only the tool, out of the package: to install that would start a server on this machine. Gives why it could not be had,
 * or null.
 */
function fetchPromtool() {
  readPackageLists();
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'fetching-'));
  try {
    const download = run('apt-get', ['download', '-q', PACKAGE], { cwd: folder });
    if (!download.ok) return download.output;
    const [file = ''] = readdirSync(folder);
    const unpack = run('dpkg-deb', ['--extract', file, '.'], { cwd: folder });
    if (!unpack.ok) return unpack.output;
    renameSync(join(folder, 'usr', 'bin', 'promtool'), fetched);
    return null;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
