import { setTimeout as delay } from 'node:timers/promises';

import type { Cluster } from '../test/helpers/cluster.ts';
import { partitionId } from '../src/pipeline/ports.ts';
import { type Contender, type Running, start } from './contender.ts';
import type { Input } from './preload.ts';
import { readBack } from './read-back.ts';
import { PARTITIONS, partitionsOf, type Rig } from './rig.ts';
import type { Measured } from './rounds.ts';

export interface Throughput extends Measured {
  readonly recordsPerSecond: number;
  /** User and system time of the process. */
  readonly cpuMicrosPerRecord: number;
  readonly peakBytes: number;
}

const LIMIT_MS = 120_000;
const LOOK_MS = 200;

/** One process works off the whole input, under a group of its own, to a topic of its own. */
export async function measureThroughput(
  rig: Rig,
  contender: Contender,
  input: Input,
  run: string,
): Promise<Throughput> {
  const output = `out-${run}`;
  const group = `group-${run}`;
  // The broker's clock in each record is when it came into the log: start-up, joining and the first fetch come before.
  await rig.cluster.createTopic(output, PARTITIONS, { 'message.timestamp.type': 'LogAppendTime' });
  const { workload, topic, records, expected } = input;
  const running = start(
    contender,
    { workload, bootstrapServers: rig.bootstrapServers, input: topic, output, group },
    rig.millrace,
  );
  try {
    await untilCommitted(rig.cluster, running, group, input);
  } finally {
    await running.stop();
  }
  const { tally, firstAt, lastAt } = await readBack(rig, output);
  await rig.cluster.deleteTopics([output]);
  return {
    recordsPerSecond: (records / (lastAt - firstAt)) * 1_000,
    cpuMicrosPerRecord: (running.usage.cpuSeconds(firstAt, lastAt) / records) * 1e6,
    peakBytes: running.usage.peakBytes,
    wrong: expected.differenceTo(tally),
  };
}

/** Resolves when the group has committed the whole input; rejects when the process ends before, or takes too long. */
export async function untilCommitted(cluster: Cluster, running: Running, group: string, input: Input): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  const offsets = new Map<string, number>();
  for (;;) {
    running.check();
    // A partition is left out while its next offset is in a transaction that is about to end: the last answer holds.
    for (const [partition, offset] of await cluster.committed(group, partitionsOf(input.topic)))
      offsets.set(partition, offset);
    const done = partitionsOf(input.topic).reduce((sum, each) => sum + (offsets.get(partitionId(each)) ?? 0), 0);
    if (done >= input.records) return;
    if (Date.now() > deadline) {
      const seconds = LIMIT_MS / 1_000;
      throw new Error(`${done} of ${input.records} records committed after ${seconds} s\n${running.lastWords()}`);
    }
    await delay(LOOK_MS);
  }
}
