import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, inject, it, onTestFinished } from 'vitest';

import { baseImages } from '../../dev/setup/docker.mjs';
import { docker } from './docker.ts';
import { VERSION } from './setup.ts';

/** What Millrace may add to its base. */
const ALLOWED_BYTES = 45e6;
const root = fileURLToPath(new URL('../..', import.meta.url));

it('adds little to its base: no sources, no compiler, no packages for development', async () => {
  const size = async (image: string) => Number(await docker('image', 'inspect', '--format', '{{.Size}}', image));
  const [base = ''] = baseImages();
  expect((await size(inject('image'))) - (await size(base))).toBeLessThan(ALLOWED_BYTES);
  const packages = await docker(
    'run',
    '--rm',
    '--entrypoint',
    'ls',
    inject('image'),
    '/usr/local/lib/millrace/node_modules',
  );
  expect(packages.split('\n')).toEqual(expect.arrayContaining(['@confluentinc', 'pino', 'yaml']));
  expect(packages.split('\n')).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(typescript|vitest|nan|tar)$/)]),
  );
});

it('says what it is in its labels', async () => {
  const labels = await docker('image', 'inspect', '--format', '{{json .Config.Labels}}', inject('image'));
  expect(JSON.parse(labels)).toMatchObject({
    'org.opencontainers.image.title': 'Millrace',
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.version': VERSION,
  });
});

it.each(['config/flights.yaml', 'config/flights-effects.yaml'])('checks the example %s', async (file) => {
  const mount = ['--volume', `${root}config:/app/config:ro`];
  expect(await docker('run', '--rm', '--read-only', ...mount, inject('image'), 'check', file)).toMatch(
    `${file}: valid`,
  );
});

/** Ends the process by its own hand, once `millrace run` is well under way. */
const UNCAUGHT = `
setTimeout(() => { throw new Error('nobody catches this'); }, 2_000);
export default () => undefined;
`;

it.each([
  ['with its own process 1', []],
  ['as process 1, which no signal of its own ends', ['--entrypoint', 'millrace']],
])('ends after an error that nothing catches, %s', async (_, options) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-image-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755); // a temporary folder is its owner's alone
  await writeFile(join(folder, 'transform.mjs'), UNCAUGHT);
  const flow = { input: { topics: ['in'] }, transform: './transform.mjs', outputs: { out: { topic: 'out' } } };
  const config = { application: 'a', kafka: { bootstrapServers: 'nobody:1' }, pipelines: { p: flow } };
  await writeFile(join(folder, 'config.yaml'), JSON.stringify(config));
  const args = [
    'run',
    '--rm',
    ...options,
    '--network',
    inject('network'),
    '--volume',
    `${folder}:/app/config:ro`,
    inject('image'),
  ];
  const run = promisify(execFile)('docker', [...args, 'run', 'config/config.yaml'], { timeout: 30_000 });
  await expect(run).rejects.toMatchObject({
    code: expect.any(Number) as number,
    stdout: expect.stringMatching(/an error that nothing was there to catch/) as string,
  });
});
