import { existsSync } from 'node:fs';

import { canInstallPackages, installPackages, say } from './system.mjs';

/** Where Debian, Google's packages and macOS have it. `CHROME_PATH` names any other one. */
const PLACES = [
  process.env['CHROME_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const PACKAGE = 'chromium';

/** A browser, in which the tests look at the status page. Without it everything else works. */
export function provideChromium() {
  if (findChromium() !== undefined) return say('Chromium: there');
  if (!canInstallPackages()) return say('Chromium: not there; the tests of the status page need it, or CHROME_PATH');
  installPackages([PACKAGE]);
  say(findChromium() === undefined ? 'Chromium: could not be installed' : 'Chromium: installed');
}

/** Its executable, or undefined. */
export function findChromium() {
  return PLACES.find((place) => place !== undefined && existsSync(place));
}
