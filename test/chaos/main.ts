/**
 * `npm run chaos`: the fault suite on real processes and brokers. Each row is a test; docs/reliability.md says what it
 * tries. The last line counts the rows.
 */
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

import { Command, InvalidArgumentError } from 'commander';
import { startVitest } from 'vitest/node';

import { kafkaVersion } from '../../dev/setup/kafka.mjs';
import { findRows, namePattern, type Row } from './catalogue.ts';
import { hasPassed, report, summary, type Run } from './report.ts';
import { SEED_VARIABLE } from './setup.ts';
import { VerdictReporter } from './verdicts.ts';

interface Options {
  readonly seed: number;
  readonly report?: string;
}

const UNUSABLE = 2;

const program = new Command('npm run chaos --')
  .description('tries the rows of the fault suite; all of test/chaos where none is named')
  .argument('[rows...]', 'ids of rows, such as C3; those of npm test can be named, too')
  .option('--seed <n>', 'makes the choices of the run that printed this seed', seedOf, randomInt(2 ** 31))
  .option('--report <file>', 'where to write the report, in Markdown')
  .parse();

function seedOf(text: string): number {
  const seed = Number(text);
  if (Number.isSafeInteger(seed) && seed >= 0) return seed;
  throw new InvalidArgumentError('expected a whole number from 0');
}

function chosenRows(ids: readonly string[]): Row[] {
  const known = findRows();
  if (ids.length === 0) return [...known.values()].filter(({ projects }) => projects.includes('chaos'));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) {
    const noun = unknown.length === 1 ? 'row' : 'rows';
    program.error(`error: there is no ${noun} ${unknown.join(', ')}; there are ${[...known.keys()].join(', ')}`, {
      exitCode: UNUSABLE,
    });
  }
  return [...new Set(ids)].flatMap((id) => known.get(id) ?? []);
}

async function runRows(rows: readonly Row[], seed: number): Promise<VerdictReporter> {
  const verdicts = new VerdictReporter();
  process.env[SEED_VARIABLE] = String(seed);
  const vitest = await startVitest('test', [...new Set(rows.flatMap(({ files }) => files))], {
    project: [...new Set(rows.flatMap(({ projects }) => projects))],
    testNamePattern: namePattern(rows.map(({ id }) => id)),
    reporters: [verdicts],
    watch: false,
  });
  await vitest.close();
  return verdicts;
}

const { seed, report: file } = program.opts<Options>();
const rows = chosenRows(program.args);
console.log(`seed ${seed}; rows ${rows.map(({ id }) => id).join(' ')}\n`);
const { verdicts, failures } = await runRows(rows, seed);
const run: Run = {
  rows,
  verdicts,
  seed,
  circumstances: [`Kafka ${kafkaVersion ?? ''}, Node ${process.version}, ${cpus().length} cores`],
};
if (file !== undefined) writeFileSync(file, report(run));
console.log(summary(run));
process.exitCode = failures.length === 0 && rows.every((row) => hasPassed(row, verdicts)) ? 0 : 1;
