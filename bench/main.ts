/**
 * `npm run bench`: Millrace beside a bare loop on the same client, in one run on one broker, and beside a bare loop into
 * PostgreSQL where that is installed. docs/performance.md says
 * what the figures mean. Results go to standard output, progress to standard error; whatever it starts ends with it.
 */
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Command, InvalidArgumentError, Option } from 'commander';

import { startBroker } from '../dev/broker.ts';
import { connectCluster } from '../test/helpers/cluster.ts';
import { hasPostgres } from '../dev/setup/postgres.mjs';
import { startPostgres } from '../test/helpers/postgres.ts';
import type { Contender } from './contender.ts';
import { measureEffects } from './effects.ts';
import { measureLatency } from './latency.ts';
import { type Input, preload } from './preload.ts';
import { isRight, report, type Results } from './report.ts';
import { type Rig, say } from './rig.ts';
import { inRounds, type Round } from './rounds.ts';
import { measureThroughput, type Throughput } from './throughput.ts';
import { effects, identity, json, type Workload } from './workloads.ts';

interface Options {
  records: number;
  rounds: number;
  only?: Workload['name'] | 'latency';
  command: string;
  wait: boolean;
}

const PATIENCE_MS = 60_000;
/** A database takes this many times longer for a record than a topic does, roughly. */
const FEWER_EFFECTS = 10;

const BROKER = {
  // As many partitions of the broker's own topics as there are of ours; deleted files are gone soon.
  properties: {
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.num.partitions': '4',
    'log.segment.delete.delay.ms': '1000',
  },
  jvmOptions: ['-Xmx1g', '-XX:+UseSerialGC'],
};

function parseOptions(): Options {
  const built = fileURLToPath(new URL('../dist/millrace.cjs', import.meta.url));
  return new Command('npm run bench --')
    .option('--records <n>', 'records of each throughput run', positive, 1_000_000)
    .option('--rounds <n>', 'how often each loop runs', positive, 3)
    .addOption(
      new Option('--only <part>', 'measure only this').choices([identity.name, json.name, effects.name, 'latency']),
    )
    .option('--command <file>', 'the built command to measure', (path) => resolve(path), built)
    .option('--no-wait', 'do not wait until nothing else keeps the machine busy')
    .parse()
    .opts<Options>();
}

function positive(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('expected a whole number from 1');
}

async function measure({ records, rounds, only }: Options, rig: Rig): Promise<Results> {
  const throughput: Results['throughput'] = new Map();
  const isAsked = (part: Options['only']) => only === undefined || only === part;
  for (const workload of [identity, json]) {
    if (!isAsked(workload.name)) continue;
    const results = await measureWorkload(rig, workload, records, rounds, (contender, input, run) =>
      measureThroughput(rig, contender, input, run),
    );
    throughput.set(workload.name, results);
  }
  if (isAsked(effects.name)) {
    if (hasPostgres()) throughput.set(effects.name, await measureWithPostgres(rig, records, rounds));
    else if (only === undefined) rig.doubts.push('effects: left out, since there is no PostgreSQL on this machine');
    else throw new Error('there is no PostgreSQL on this machine to measure effects with');
  }
  if (!isAsked('latency')) return { throughput, latency: [] };
  const latency = await inRounds(rig, 'latency', rounds, (contender, run) => measureLatency(rig, contender, run));
  return { throughput, latency };
}

async function measureWithPostgres(rig: Rig, records: number, rounds: number): Promise<Round<Throughput>[]> {
  const postgres = await startPostgres();
  try {
    return await measureWorkload(rig, effects, Math.ceil(records / FEWER_EFFECTS), rounds, (contender, input, run) =>
      measureEffects(rig, postgres, contender, input, run),
    );
  } finally {
    await postgres.remove();
  }
}

async function measureWorkload(
  rig: Rig,
  workload: Workload,
  records: number,
  rounds: number,
  measureRun: (contender: Contender, input: Input, run: string) => Promise<Throughput>,
): Promise<Round<Throughput>[]> {
  say(
    `${workload.name}: writing ${records} records, and a run that does not count, to warm up what is behind the loops`,
  );
  const input = await preload(rig, workload, records);
  await measureRun('bare loop', input, `${workload.name}-warm-up`);
  const results = await inRounds(rig, workload.name, rounds, (contender, run) => measureRun(contender, input, run));
  await rig.cluster.deleteTopics([input.topic]);
  return results;
}

async function bench(options: Options): Promise<boolean> {
  const broker = await startBroker(BROKER);
  try {
    const cluster = await connectCluster(broker.bootstrapServers);
    const rig: Rig = {
      bootstrapServers: broker.bootstrapServers,
      cluster,
      millrace: options.command,
      patienceMs: options.wait ? PATIENCE_MS : 0,
      doubts: [],
    };
    try {
      const results = await measure(options, rig);
      const { length: cores, 0: core } = cpus();
      console.log(`${broker.origin}, Node ${process.version}, ${cores} cores (${core?.model ?? 'unknown'}),`);
      console.log(`${options.records} records a throughput run (effects: a tenth), ${options.rounds} rounds\n`);
      if (rig.doubts.length > 0) console.log(rig.doubts.map((doubt) => `- ${doubt}\n`).join(''));
      console.log(report(results).join('\n'));
      return isRight(results);
    } finally {
      await cluster.close();
    }
  } finally {
    await broker.remove();
  }
}

try {
  process.exitCode = (await bench(parseOptions())) ? 0 : 1;
} catch (error) {
  console.error(`the benchmark failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
