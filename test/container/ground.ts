import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';

import { inject, test } from 'vitest';

import { startProcessor } from '../helpers/processor.ts';
import { provideRig, type Ground, type Rig } from '../helpers/rig.ts';
import { docker } from './docker.ts';

/** With nothing that it does not need. */
const CONFINEMENT = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
/** The image's own health check, more often. */
const HEALTH = ['--health-interval', '1s', '--health-retries', '1'];
const CONFIG_LABEL = 'millrace.config';

/** Containers of the image under test, each with the rig's folder mounted as a user does it. */
const containers: Ground = {
  httpHost: '0.0.0.0',
  start({ args: [command = '', config = '', ...more], cwd, httpPort, ...options }) {
    chmodSync(cwd, 0o755); // a temporary folder is its owner's alone
    const name = `millrace-${randomBytes(4).toString('hex')}`;
    const port = httpPort === undefined ? [] : ['--publish', `127.0.0.1:${httpPort}:${httpPort}`];
    const place = ['--network', inject('network'), '--volume', `${cwd}:/app/config:ro`, ...port];
    const names = ['--name', name, '--label', `${CONFIG_LABEL}=${config}`];
    return startProcessor({
      ...options,
      args: [command, config.replace(cwd, 'config'), ...more],
      cwd,
      ...(httpPort === undefined ? {} : { httpPort }),
      container: {
        name,
        command: ['docker', 'run', ...names, ...place, ...CONFINEMENT, ...HEALTH, inject('image')],
      },
    });
  },
};

/** `it('…', async ({ rig }) => …)` whose processors are containers. */
export const it = test.extend<{ rig: Rig }>({
  rig: async ({ task }, use) => provideRig(inject('bootstrapServers'), task, use, containers),
});

/** The broker, for a configuration that is used in a container. */
export const inNetwork = () => ({ kafka: { bootstrapServers: inject('networkServers') } });

/** The running container of an instance. */
export async function containerOf(rig: Rig, instance: string): Promise<string> {
  const label = `label=${CONFIG_LABEL}=${rig.folder}/${instance}.yaml`;
  const id = await docker('ps', '--quiet', '--filter', label);
  if (!/^\w+$/.test(id)) throw new Error(`not one container runs ${instance}: '${id}'`);
  return id;
}
