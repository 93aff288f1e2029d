import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askHealth, containersFile } from '../../src/health.ts';

/** A process that is alive and not ready. */
async function serving(): Promise<number> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/live' ? 200 : 503).end('{"reasons":["flights-0 is held"]}\n');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('millrace health', () => {
  it('asks whether the process answers, or whether it is ready, and passes on what is in the way', async () => {
    const port = await serving();
    expect(await askHealth({ host: '0.0.0.0', port }, '/live')).toEqual({ kind: 'well' });
    expect(await askHealth({ host: '0.0.0.0', port }, '/ready')).toEqual({
      kind: 'unwell',
      reason: `http://127.0.0.1:${port}/ready answers 503: {"reasons":["flights-0 is held"]}`,
    });
  });

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::', '[::1]'],
    ['::1', '[::1]'],
  ])('says that nobody answers where the configuration names %s', async (host, asked) => {
    const health = await askHealth({ host, port: 1 }, '/live');
    expect(health.kind).toBe('unwell');
    expect(health).toHaveProperty(
      'reason',
      expect.stringContaining(`http://${asked}:1/live does not answer: connect `),
    );
  });

  it('says that any free port can not be asked', async () => {
    expect(await askHealth({ host: '0.0.0.0', port: 0 }, '/live')).toMatchObject({ kind: 'unwell' });
  });
});

describe('the configuration of a container', () => {
  const file = `${import.meta.dirname}/../../config/flights.yaml`;

  it.each([
    ['the image’s entry point', ['tini', '-s', '--', 'millrace', 'run', file], file],
    ['options in front of the file', ['node', 'millrace', 'run', '--pipeline', 'route-flights', file], file],
    ['options behind it', ['millrace', 'run', file, '-p', 'route-flights'], file],
    ['a file that is not there', ['millrace', 'run', 'nowhere.yaml'], undefined],
    ['another command', ['sleep', 'infinity'], undefined],
  ])('is found with %s', (_, args, found) => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-health-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'cmdline'), `${args.join('\0')}\0`);
    expect(containersFile(join(folder, 'cmdline'))).toBe(found);
  });

  it('is not found where there is no such command line', () => {
    expect(containersFile('/nowhere/cmdline')).toBeUndefined();
  });
});
