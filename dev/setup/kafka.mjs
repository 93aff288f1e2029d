import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { dockerAnswers, provideImage } from './docker.mjs';
import { canInstallPackages, installPackages, onPath, packageExists, run, say, SetupError } from './system.mjs';

const pom = fileURLToPath(new URL('../kafka/pom.xml', import.meta.url));
const cache = fileURLToPath(new URL('../../.cache/', import.meta.url));

/** Kafka 4 brokers need it. */
const MIN_JAVA = 17;
/** Debian 12 has 17, Debian 13 has 21. */
const JAVA_PACKAGES = ['openjdk-17-jre-headless', 'openjdk-21-jre-headless'];

export const kafkaVersion = /<artifactId>kafka_2\.13<\/artifactId>\s*<version>([^<]+)</.exec(
  readFileSync(pom, 'utf8'),
)?.[1];

/** Where there is no Java. */
export const kafkaImage = 'apache/kafka:4.1.0';

/** The folder of the broker's jars, or null before `provideKafka` fetched them. */
export function findJars() {
  const folder = join(cache, `kafka-${kafkaVersion}`);
  return existsSync(folder) ? folder : null;
}

/** The command that runs Java, or null where there is none, or only one that is too old. */
export function findJava() {
  const home = process.env['JAVA_HOME'];
  const commands = home ? [join(home, 'bin', 'java'), 'java'] : ['java'];
  const isRecent = (/** @type {string} */ command) => {
    const { ok, output } = run(command, ['-version']);
    return ok && Number(/version "(\d+)/.exec(output)?.[1] ?? 0) >= MIN_JAVA;
  };
  return commands.find(isRecent) ?? null;
}

/** Sees to it that a broker can be started here, in the order of preference that `dev/broker.ts` follows. */
export function provideKafka() {
  const given = process.env['KAFKA_BOOTSTRAP_SERVERS'];
  if (given) return say(`Kafka: the broker at ${given} (KAFKA_BOOTSTRAP_SERVERS)`);

  if (!findJava() && canInstallPackages()) installJava();
  if (findJava()) {
    if (!findJars() && !onPath('mvn') && canInstallPackages()) installPackages(['maven']);
    if (!findJars() && onPath('mvn')) fetchJars();
    if (findJars()) return say(`Kafka: ${kafkaVersion} from Maven jars, ready`);
  }
  if (dockerAnswers() && provideImage(kafkaImage)) return say(`Kafka: the image ${kafkaImage}, through Docker`);
  throw new SetupError(
    `no Kafka broker can be started here. Any of these helps:
  - set KAFKA_BOOTSTRAP_SERVERS to a broker that is for testing
  - install Java ${MIN_JAVA} or newer${findJava() ? ' (found)' : ''} and Maven${onPath('mvn') ? ' (found)' : ''}
  - start Docker`,
  );
}

function installJava() {
  const java = JAVA_PACKAGES.find(packageExists);
  // Named together, or Maven brings a Java of its own choice.
  if (java) installPackages(findJars() ? [java] : [java, 'maven']);
}

function fetchJars() {
  say(`fetching Kafka ${kafkaVersion} (Maven) …`);
  mkdirSync(cache, { recursive: true });
  // Fetched beside its place and then moved there, so that an interrupted run leaves no half of it.
  const folder = mkdtempSync(join(cache, 'fetching-'));
  const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
  const { ok, output } = run('mvn', ['-q', '-B', '-Dstyle.color=never', '-f', pom, ...goal]);
  if (ok) renameSync(folder, join(cache, `kafka-${kafkaVersion}`));
  else {
    rmSync(folder, { recursive: true });
    say(`Maven could not fetch Kafka:\n${output}`);
  }
}
