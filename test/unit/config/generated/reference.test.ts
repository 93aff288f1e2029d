import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { expect, it } from 'vitest';
import { reference } from '../../../../src/config/reference.ts';

const PAGE = join(import.meta.dirname, '../../../../docs/configuration.md');

it(
  'documents the fields as they are (npm run docs brings docs/configuration.md up to date)',
  { timeout: 30_000 },
  async () => {
    const text = await format(reference(), { ...(await resolveConfig(PAGE)), parser: 'markdown' });
    await expect(text).toMatchFileSnapshot(PAGE);
  },
);
