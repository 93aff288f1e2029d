import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { run, say, SetupError } from './system.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(root, 'dist');
/** Written after a build without errors: its time tells whether a source has changed since. */
const stamp = join(dist, '.built');

/** Compiles `src` to `dist` where a source is newer. */
export function provideBuild() {
  if (isUpToDate()) return say('build: up to date');
  const { ok, output } = run('npm', ['run', '--silent', 'build'], { cwd: root });
  if (!ok) throw new SetupError(`src does not compile:\n${output}`);
  writeFileSync(stamp, '');
  say('build: src compiled to dist');
}

function isUpToDate() {
  if (!existsSync(stamp)) return false;
  const builtAt = statSync(stamp).mtimeMs;
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((path) =>
    join('src', path),
  );
  const inputs = [...sources, 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];
  return inputs.every((path) => statSync(join(root, path)).mtimeMs < builtAt);
}
