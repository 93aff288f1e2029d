/**
 * `npm run bench`: Millrace beside a bare loop on the same client, in one run on one broker. docs/performance.md says
 * what the figures mean. Results go to standard output, progress to standard error; whatever it starts ends with it.
 */
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Command, InvalidArgumentError, Option } from 'commander';

import { startBroker } from '../dev/broker.ts';
import { connectCluster } from '../test/helpers/cluster.ts';
import { measureLatency } from './latency.ts';
import { preload } from './preload.ts';
import { isRight, report, type Results } from './report.ts';
import { type Rig, say } from './rig.ts';
import { inRounds } from './rounds.ts';
import { measureThroughput } from './throughput.ts';
import { identity, json, type Workload } from './workloads.ts';

interface Options {
  records: number;
  rounds: number;
  only?: Workload['name'] | 'latency';
  command: string;
  wait: boolean;
}

const PATIENCE_MS = 60_000;

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
    .addOption(new Option('--only <part>', 'measure only this').choices([identity.name, json.name, 'latency']))
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
  for (const workload of [identity, json]) {
    if (only !== undefined && only !== workload.name) continue;
    say(`${workload.name}: writing ${records} records, and a run that does not count, to warm up the broker`);
    const input = await preload(rig, workload, records);
    await measureThroughput(rig, 'bare loop', input, `${workload.name}-warm-up`);
    const results = await inRounds(rig, workload.name, rounds, (contender, run) =>
      measureThroughput(rig, contender, input, run),
    );
    throughput.set(workload.name, results);
    await rig.cluster.deleteTopics([input.topic]);
  }
  if (only !== undefined && only !== 'latency') return { throughput, latency: [] };
  const latency = await inRounds(rig, 'latency', rounds, (contender, run) => measureLatency(rig, contender, run));
  return { throughput, latency };
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
      console.log(`${options.records} records a throughput run, ${options.rounds} rounds\n`);
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
