/**
 * Prepares a fresh clone: packages, the Kafka client's native part, the build, a Kafka broker and a PostgreSQL to start; with `--tests`
 * a browser and promtool, too. Plain JavaScript without packages, because it runs before any is installed. What is there already is
 * left alone.
 */
import { provideBuild } from './setup/build.mjs';
import { provideChromium } from './setup/chromium.mjs';
import { provideKafka } from './setup/kafka.mjs';
import { providePackages } from './setup/packages.mjs';
import { providePostgres } from './setup/postgres.mjs';
import { providePromtool } from './setup/promtool.mjs';
import { say, SetupError } from './setup/system.mjs';

const MIN_NODE = [20, 19];

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [minMajor = 0, minMinor = 0] = MIN_NODE;
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return;
  throw new SetupError(`Node ${MIN_NODE.join('.')} or newer is needed; this is ${process.versions.node}`);
}

try {
  checkNode();
  providePackages();
  provideBuild();
  provideKafka();
  providePostgres();
  if (process.argv.includes('--tests')) {
    provideChromium();
    providePromtool();
  }
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
