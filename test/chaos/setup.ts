import { randomInt } from 'node:crypto';

import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Under the same seed a row makes the same choices. */
    seed: number;
  }
}

export const SEED_VARIABLE = 'MILLRACE_CHAOS_SEED';

export default function setup(project: TestProject): void {
  const given = process.env[SEED_VARIABLE];
  const seed = given === undefined ? randomInt(2 ** 31) : Number(given);
  // `npm run chaos` has said it; vitest, where it is called by itself, has not.
  if (given === undefined) console.log(`seed ${seed}`);
  project.provide('seed', seed);
}
