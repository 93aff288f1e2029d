import { spawnSync } from 'node:child_process';

import { findPromtool } from '../../dev/setup/promtool.mjs';

/** Runs Prometheus' own tool, with something to read if given; throws what it complains about. */
export function promtool(args: readonly string[], input = ''): void {
  const command = findPromtool();
  if (command === undefined)
    throw new Error(
      'these tests need promtool: `npm run setup -- --tests` fetches it on Debian; or put it on the PATH',
    );
  const { status, stdout, stderr, error } = spawnSync(command, args, { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`promtool ${args.join(' ')}\n${error?.message ?? stdout + stderr}`);
}
