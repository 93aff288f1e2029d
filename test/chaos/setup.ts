import { randomInt } from 'node:crypto';

import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Under the same seed a row makes the same choices. */
    seed: number;
    /** How many runs with faults at random there are, and how long each goes on. */
    random: { readonly runs: number; readonly forMs: number };
  }
}

export interface ChaosSettings {
  readonly seed: number;
  readonly random: { readonly runs: number; readonly forMs: number };
}

/** Where `npm run chaos` puts its settings, as JSON. */
export const SETTINGS_VARIABLE = 'MILLRACE_CHAOS';

const DEFAULT_RANDOM = { runs: 1, forMs: 60_000 };

export default function setup(project: TestProject): void {
  const { seed, random } = settings();
  project.provide('seed', seed);
  project.provide('random', random);
}

function settings(): ChaosSettings {
  const given = process.env[SETTINGS_VARIABLE];
  if (given !== undefined) return JSON.parse(given) as ChaosSettings;
  const seed = randomInt(2 ** 31);
  // `npm run chaos` has said it; vitest, where it is called by itself, has not.
  console.log(`seed ${seed}`);
  return { seed, random: DEFAULT_RANDOM };
}
