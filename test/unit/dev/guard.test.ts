import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, it, onTestFinished, vi } from 'vitest';

import { onceGone } from '../../../dev/guard.ts';

const runTypeScript = fileURLToPath(new URL('../../../dev/run.mjs', import.meta.url));
const guarded = fileURLToPath(new URL('guarded.ts', import.meta.url));

function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-guard-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'gone');
}

it('runs its command when the process was killed', async () => {
  const file = temporaryFile();
  const child = spawn(process.execPath, [runTypeScript, guarded, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  expect(existsSync(file)).toBe(false);
  child.kill('SIGKILL');
  await vi.waitFor(() => expect(existsSync(file)).toBe(true), { timeout: 10_000 });
}, 30_000);

it('has run its command when release resolves', async () => {
  const file = temporaryFile();
  const guard = onceGone(`touch ${file}`);
  await guard.release();
  expect(existsSync(file)).toBe(true);
});
