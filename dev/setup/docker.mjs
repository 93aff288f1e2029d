import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { onPath, run, say } from './system.mjs';

const dockerfile = fileURLToPath(new URL('../../Dockerfile', import.meta.url));

const ANSWER_TIMEOUT_MS = 10_000;

/** The broker of the container tests: what Testcontainers knows how to start. */
export const KAFKA_IMAGE = 'confluentinc/cp-kafka:8.1.0';

export function dockerAnswers() {
  const question = ['version', '--format', '{{.Server.Version}}'];
  return onPath('docker') && run('docker', question, { timeoutMs: ANSWER_TIMEOUT_MS }).ok;
}

/**
 * Sees to it that an image is on this machine.
 *
 * @param {string} image
 * @param {number} [timeoutMs] how long to try to fetch it
 * @returns {boolean} whether it is there
 */
export function provideImage(image, timeoutMs) {
  if (run('docker', ['image', 'inspect', image]).ok) return true;
  say(`fetching the image ${image} (Docker) …`);
  const { ok, output } = run('docker', ['pull', '--quiet', image], { timeoutMs });
  if (!ok) say(`Docker could not fetch it:\n${output}`);
  return ok;
}

/** What the Dockerfile builds on: the images that it names and does not make itself. */
export function baseImages() {
  const stages = [...readFileSync(dockerfile, 'utf8').matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)];
  const made = new Set(stages.map(([, , name]) => name));
  return [...new Set(stages.map(([, image = '']) => image))].filter((image) => !made.has(image));
}
