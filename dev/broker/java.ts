import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { onceGone } from '../guard.ts';
import { kafkaVersion } from '../setup/kafka.mjs';
import type { BrokerShape, OwnBroker } from './contract.ts';
import { serverProperties } from './properties.ts';
import { waitUntilListening, waitUntilReady } from './ready.ts';

const CLUSTER_ID = 'bWlsbHJhY2UtbG9jYWwtMQ';
const STOP_TIMEOUT_MS = 60_000;
/** What the largest log may grow by when the disk is to be full. */
const ROOM_BYTES = 20_000;
const logging = fileURLToPath(new URL('../kafka/log4j2.properties', import.meta.url));

/** A broker in KRaft mode as a Java process, from a folder of jars. */
export function createJavaBroker(shape: BrokerShape, java: string, jars: string): OwnBroker {
  const bootstrapServers = `127.0.0.1:${shape.port}`;
  const folder = mkdtempSync(join(tmpdir(), 'millrace-broker-'));
  const propertiesFile = join(folder, 'server.properties');
  const pidFile = join(folder, 'pid');
  const logFile = join(folder, 'log');
  const properties = serverProperties(shape, { host: '127.0.0.1', dataFolder: join(folder, 'data') });
  writeFileSync(propertiesFile, properties.map(([name, value]) => `${name}=${value}\n`).join(''));
  const guard = onceGone(`[ -f '${pidFile}' ] && kill -9 $(cat '${pidFile}') && sleep 1; rm -rf '${folder}'`);

  const jvm = [...shape.jvmOptions, '-cp', join(jars, '*'), `-Dlog4j2.configurationFile=${logging}`];
  let formatted = false;
  let broker: ChildProcess | null = null;

  async function format() {
    const format = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', propertiesFile];
    await promisify(execFile)(java, [...jvm, ...format]);
    formatted = true;
  }

  async function start() {
    if (broker) throw new Error('the broker runs already');
    if (!formatted) await format();
    const log = openSync(logFile, 'a');
    // A group of its own: a Ctrl-C in the terminal is for us, and we stop the broker last.
    const child = spawn(java, [...jvm, 'kafka.Kafka', propertiesFile], { detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    writeFileSync(pidFile, String(child.pid));
    child.unref();
    broker = child;
    child.once('exit', () => {
      broker = null;
      rmSync(pidFile, { force: true });
    });
    const check = () => {
      if (!broker) throw new Error(`the Kafka broker ended while it started; the end of its log:\n${logEnd()}`);
    };
    if (shape.isController) await waitUntilListening(`127.0.0.1:${shape.controllerPort}`, { check });
    else await waitUntilReady(bootstrapServers, { check });
  }

  async function end(signal: NodeJS.Signals) {
    if (!broker) return;
    const exited = once(broker, 'exit');
    broker.ref();
    broker.kill(signal);
    const late = new AbortController();
    const kind = await Promise.race([
      exited.then(() => 'exited'),
      delay(STOP_TIMEOUT_MS, 'late', { signal: late.signal }),
    ]);
    late.abort();
    if (kind === 'late') throw new Error(`the Kafka broker did not stop; the end of its log:\n${logEnd()}`);
  }

  /** By RLIMIT_FSIZE, for it takes no rights: a write beyond it fails, in the middle of a batch if need be. */
  async function fillDisk() {
    const data = join(folder, 'data');
    const files = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.log'));
    const sizes = files.map((file) => statSync(join(data, file), { throwIfNoEntry: false })?.size ?? 0);
    const limit = Math.max(...sizes) + ROOM_BYTES;
    await promisify(execFile)('prlimit', ['--pid', String(broker?.pid), `--fsize=${limit}:`]);
  }

  const logEnd = () => readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-20).join('\n');

  return {
    bootstrapServers,
    origin: `Kafka ${kafkaVersion} from Maven jars`,
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async untilGone() {
      if (broker) await once(broker, 'exit');
    },
    killCommand: () => `kill -9 ${broker?.pid ?? '(no process)'}`,
    fillDisk,
    freeze: async () => void broker?.kill('SIGSTOP'),
    thaw: async () => void broker?.kill('SIGCONT'),
    async remove() {
      await end('SIGKILL');
      await guard.release();
    },
  };
}
