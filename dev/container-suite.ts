/**
 * `npm run test:container`: the tests of the image. They need a Docker engine, and the images of test/container/setup.ts or a
 * registry to fetch them from. Where that can't be had, this says what is missing and fails; with `--if-possible` it only
 * says so. Other arguments go to vitest.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { onceGone } from './guard.ts';
import { baseImages, dockerAnswers, KAFKA_IMAGE, provideImage } from './setup/docker.mjs';
import { onPath } from './setup/system.mjs';

const DAEMON_START_MS = 30_000;
/** For each image. */
const PULL_TIMEOUT_MS = 180_000;

type Daemon = { kind: 'there'; release(): Promise<void> } | { kind: 'missing'; why: string };

/** The engine that runs, or one of our own where that may be started. */
async function provideDaemon(): Promise<Daemon> {
  if (dockerAnswers()) return { kind: 'there', release: async () => undefined };
  if (!onPath('docker')) return { kind: 'missing', why: 'there is no docker command on this machine' };
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !onPath('dockerd'))
    return { kind: 'missing', why: 'no Docker engine answers, and none can be started here' };
  return startDaemon();
}

async function startDaemon(): Promise<Daemon> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-docker-'));
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'a');
  const daemon = spawn('dockerd', [], { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  daemon.unref();
  const pid = String(daemon.pid);
  const guard = onceGone(
    `kill ${pid}; for i in $(seq 200); do kill -0 ${pid} || break; sleep 0.1; done; rm -r '${folder}'`,
  );
  for (
    const deadline = Date.now() + DAEMON_START_MS;
    Date.now() < deadline && daemon.exitCode === null;
    await delay(200)
  )
    if (dockerAnswers()) return { kind: 'there', release: () => guard.release() };
  const lastLine = readFileSync(logFile, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  await guard.release();
  return { kind: 'missing', why: `a Docker engine could not be started: ${lastLine}` };
}

function runTests(args: readonly string[]): number {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'container', ...args];
  return spawnSync(process.execPath, vitest, { stdio: 'inherit' }).status ?? 1;
}

/** Gives the exit code. */
async function containerSuite(args: readonly string[]): Promise<number> {
  const given = args.filter((arg) => arg !== '--if-possible');
  const isOptional = given.length < args.length;
  const leftOut = (why: string): number => {
    console.log(`container tests: ${isOptional ? 'left out' : 'not possible'}: ${why}`);
    return isOptional ? 0 : 1;
  };

  const daemon = await provideDaemon();
  if (daemon.kind === 'missing') return leftOut(daemon.why);
  try {
    const missing = [...baseImages(), KAFKA_IMAGE].filter((image) => !provideImage(image, PULL_TIMEOUT_MS));
    return missing.length > 0 ? leftOut(`${missing.join(', ')} can not be fetched`) : runTests(given);
  } finally {
    await daemon.release();
  }
}

process.exitCode = await containerSuite(process.argv.slice(2));
