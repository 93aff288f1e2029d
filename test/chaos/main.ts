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
import { DURATION } from '../../src/config/units.ts';
import { findRows, namePattern, type Row } from './catalogue.ts';
import { hasPassed, report, summary, type Run } from './report.ts';
import { SETTINGS_VARIABLE, type ChaosSettings } from './setup.ts';
import { VerdictReporter } from './verdicts.ts';

interface Options {
  readonly seed: number;
  readonly report?: string;
  readonly random?: true;
  readonly for: number;
  readonly runs: number;
}

const UNUSABLE = 2;

const program = new Command('npm run chaos --')
  .description('tries the rows of the fault suite; all of test/chaos where none is named')
  .argument('[rows...]', 'ids of rows, such as C3; those of npm test can be named, too')
  .option('--seed <n>', 'makes the choices of the run that printed this seed', wholeNumberFrom(0), randomInt(2 ** 31))
  .option('--report <file>', 'where to write the report, in Markdown')
  .option('--random', 'instead of rows: faults at random every 30 s, then time to heal, then the verdict')
  .option('--for <duration>', 'how long there are faults at random', durationOf, 300_000)
  .option('--runs <n>', 'how often', wholeNumberFrom(1), 1)
  .parse();

function wholeNumberFrom(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`expected a whole number from ${least}`);
  };
}

function durationOf(text: string): number {
  const ms = DURATION.parse(text);
  if (ms > 0) return ms;
  throw new InvalidArgumentError('expected a duration such as 300s or 5m');
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

const randomRows = (runs: number): Row[] =>
  Array.from({ length: runs }, (_, run) => ({
    id: `R${run + 1}`,
    titles: ['faults at random'],
    files: ['test/chaos/random.test.ts'],
    projects: ['chaos'],
  }));

async function runRows(rows: readonly Row[], settings: ChaosSettings): Promise<VerdictReporter> {
  const verdicts = new VerdictReporter();
  process.env[SETTINGS_VARIABLE] = JSON.stringify(settings);
  const vitest = await startVitest('test', [...new Set(rows.flatMap(({ files }) => files))], {
    project: [...new Set(rows.flatMap(({ projects }) => projects))],
    testNamePattern: namePattern(rows.map(({ id }) => id)),
    reporters: [verdicts],
    watch: false,
  });
  await vitest.close();
  return verdicts;
}

const { seed, report: file, random, for: forMs, runs } = program.opts<Options>();
if (random && program.args.length > 0) program.error('error: name rows, or give --random', { exitCode: UNUSABLE });
const rows = random ? randomRows(runs) : chosenRows(program.args);
console.log(`seed ${seed}; rows ${rows.map(({ id }) => id).join(' ')}\n`);
const { verdicts, failures } = await runRows(rows, { seed, random: { runs, forMs } });
const run: Run = {
  rows,
  verdicts,
  seed,
  circumstances: [
    `Kafka ${kafkaVersion ?? ''}, Node ${process.version}, ${cpus().length} cores`,
    ...(random ? [`faults at random for ${DURATION.format(forMs)} a run`] : []),
  ],
};
if (file !== undefined) writeFileSync(file, report(run));
console.log(summary(run));
process.exitCode = failures.length === 0 && rows.every((row) => hasPassed(row, verdicts)) ? 0 : 1;
