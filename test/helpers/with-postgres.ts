import { startPostgres, type Postgres } from './postgres.ts';
import { it } from './rig.ts';

/** `it('…', async ({ rig, postgres }) => …)` with a PostgreSQL that each test may hurt. */
export const withPostgres = () =>
  it.extend<{ postgres: Postgres }>({
    // eslint-disable-next-line no-empty-pattern -- this is how vitest learns that it needs no other fixture
    postgres: async ({}, use) => {
      const postgres = await startPostgres();
      await use(postgres);
      await postgres.remove();
    },
  });
