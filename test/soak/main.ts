/**
 * `npm run soak`: load and mixed faults for a while, on real processes and a broker of its own. Afterwards nothing may be
 * lost or doubled, and what the processes hold may not have grown.
 */
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';

import { Command, InvalidArgumentError } from 'commander';
import { startVitest } from 'vitest/node';

import { type ChaosSettings, SETTINGS_VARIABLE } from '../chaos/setup.ts';
import { MINUTES_VARIABLE } from './setup.ts';

interface Options {
  readonly minutes: number;
  readonly seed: number;
}

const program = new Command('npm run soak --')
  .description('runs two instances of two workers under load and mixed faults')
  .option('--minutes <n>', 'how long', positive, 30)
  .option('--seed <n>', 'makes the choices of the run that printed this seed', positive, randomInt(1, 2 ** 31))
  .parse();

function positive(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('expected a whole number from 1');
}

if (!existsSync('/proc/self/status')) program.error('error: what processes hold is read from /proc, as Linux has it');
const { minutes, seed } = program.opts<Options>();
console.log(`seed ${seed}; ${minutes} minutes`);
const settings: ChaosSettings = { seed, random: { runs: 1, forMs: minutes * 60_000 } };
process.env[SETTINGS_VARIABLE] = JSON.stringify(settings);
process.env[MINUTES_VARIABLE] = String(minutes);
const vitest = await startVitest('test', [], { project: ['soak'], watch: false });
await vitest.close();
