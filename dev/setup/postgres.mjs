import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { canInstallPackages, installPackages, say } from './system.mjs';

/** Where Debian's packages put the server's programs. */
const root = '/usr/lib/postgresql';
/** Whatever version this Debian has. */
const PACKAGE = 'postgresql';

/** PostgreSQL, which the tests of effects, the demo and the benchmark start for themselves. Without it everything else works. */
export function providePostgres() {
  if (hasPostgres()) return say('PostgreSQL: there');
  if (!canInstallPackages()) return say(`PostgreSQL: not there; the tests of effects need it (${PACKAGE} on Debian)`);
  installPackages([PACKAGE]);
  say(hasPostgres() ? 'PostgreSQL: installed' : 'PostgreSQL: could not be installed; the tests of effects need it');
}

/** Whether the tests, the demo and the benchmark can start one. */
export function hasPostgres() {
  return existsSync(root) && readdirSync(root).some((version) => existsSync(join(root, version, 'bin', 'initdb')));
}
