import { expect } from 'vitest';

import { partitionId } from '../../src/pipeline/ports.ts';
import type { LogRecord, Partition } from '../../src/prove/log-record.ts';
import { COPY, copied } from '../helpers/copy.ts';
import type { Processor } from '../helpers/processor.ts';
import { topicIds } from '../helpers/kafka-proxy/request.ts';
import type { Rig } from '../helpers/rig.ts';
import { type Scenario, startScenario } from '../helpers/scenario.ts';
import { startSeeder, type Seed } from '../helpers/seeder.ts';
import { waitFor } from '../helpers/wait.ts';
import { workload } from '../helpers/workload.ts';
import { rowsWith, through } from './rows.ts';

const row = rowsWith();

/** So many records to each of the partitions. */
const seeds = (partitions: readonly Partition[], each: number): Seed[] =>
  partitions.flatMap(({ partition }) =>
    Array.from({ length: each }, (_, n) => ({
      key: Buffer.from(`k${partition}`),
      value: Buffer.from(JSON.stringify({ n })),
      partition,
    })),
  );

/** The last line of a process that can't go on. */
const lastLineOf = async (processor: Processor): Promise<string> => {
  expect(await processor.untilExit(), processor.lastWords()).toEqual({ code: 1, signal: null });
  return processor.log.at(-1) ?? '';
};

row.for([
  ['B11: stops where records were deleted before they were read, and commits nothing there', 'stop'],
  ['B11: goes on behind records that were deleted before they were read, where that is configured', 'skip'],
] as const)('%s', async ([, onDataLoss], { rig, exposed }) => {
  const topics = [`${rig.name}.in`];
  const run = await startScenario(rig, {
    partitions: 2,
    transform: COPY,
    expect: copied,
    pipeline: { input: { topics, key: 'string', value: 'json', onDataLoss } },
  });
  const [damaged] = run.inputPartitions;
  if (!damaged) throw new Error('there is no input');
  const first = await run.startReady('a');
  await run.seeder.send(seeds(run.inputPartitions, 20));
  await run.untilCaughtUp();
  first.signal('SIGTERM');
  expect((await first.untilExit()).code).toBe(0);
  await run.seeder.send(seeds(run.inputPartitions, 20));
  const sources = await run.readInput();
  await rig.cluster.deleteRecords([{ ...damaged, offset: 30 }]);

  const second = await run.start('a');
  rig.expose({ offsetsDeleted: 10 });
  if (onDataLoss === 'stop') {
    const why = await lastLineOf(second);
    expect(why).toContain(`${run.input}-0 begins at offset 30 now, but the group has read only up to 20`);
    const committed = await rig.cluster.committed(run.group, run.inputPartitions);
    expect(committed.get(partitionId(damaged))).toBe(20);
    exposed({ offsetsDeleted: 10 });
    return;
  }
  const isLeft = (record: (typeof sources)[number]) =>
    record.partition !== damaged.partition || record.offset < 20 || record.offset >= 30;
  await run.judge({ sources: sources.filter(isLeft) });
  const metrics = await second.metrics();
  expect(metrics?.sum('millrace_skipped_offsets_total', { topic: run.input })).toBe(10);
  expect(second.log.join('\n')).toContain('"from":20,"to":30');
  exposed({ offsetsDeleted: 10, sources: 70 });
});

row('G2: does not start where a topic is missing, and names it', async ({ rig, exposed }) => {
  const run = await startScenario(rig);
  const format = { key: 'string', value: 'json' };
  const { right } = run.outputs;
  const missing = `${rig.name}.missing`;
  const flows = {
    input: { input: { topics: [missing], ...format } },
    output: { outputs: { left: { topic: missing, ...format }, right: { topic: right, ...format } } },
    'dead-letter topic': { deadLetter: { topic: missing } },
  };
  await run.seeder.send(Array.from({ length: 100 }, workload()));
  for (const [what, pipeline] of Object.entries(flows)) {
    const refused = await run.start('a', { pipeline });
    expect(await lastLineOf(refused), what).toContain(`topic ${missing} not found: create it`);
    rig.expose({ startsRefused: Object.keys(flows).indexOf(what) + 1 });
  }
  expect(await rig.cluster.committed(run.group, run.inputPartitions), 'committed by those').toEqual(new Map());

  await run.startReady('a');
  await run.judge();
  exposed({ startsRefused: 3, transactions: 1 });
});

/** Its input is deleted and made anew; when the process sees it, there are more records in it than it has read of the old one. */
async function makeAnew(
  { cluster, bootstrapServers }: Rig,
  { input, inputPartitions }: Scenario,
  processor: Processor,
): Promise<void> {
  processor.stop();
  await cluster.deleteTopics([input]);
  await cluster.createTopic(input, inputPartitions.length);
  const seeder = await startSeeder(bootstrapServers, input);
  await seeder.send(seeds(inputPartitions, 40));
  await seeder.close();
  processor.cont();
}

row('G3: stops when its input is deleted and made anew while it runs', async ({ rig, exposed }) => {
  const run = await startScenario(rig, { partitions: 2, transform: COPY, expect: copied });
  const processor = await run.startReady('a');
  await run.seeder.send(seeds(run.inputPartitions, 20));
  await run.untilCaughtUp();
  await makeAnew(rig, run, processor);
  const why = await lastLineOf(processor);
  expect(why).toContain(`topic ${run.input} was deleted and made anew`);
  expect(why).toContain('--reset-offsets');
  rig.expose({ topicsMadeAnew: 1 });
  exposed({ topicsMadeAnew: 1 });
});

row(
  'G3: stops after its input was made anew, where a process before it has committed',
  async ({ rig, proxy, exposed }) => {
    const run = await startScenario(rig, through(proxy, { partitions: 2, transform: COPY, expect: copied }));
    const first = await run.startReady('a');
    await run.seeder.send(seeds(run.inputPartitions, 20));
    await run.untilCaughtUp();
    proxy.cutOff(topicIds);
    const asked = proxy.watch(topicIds);
    await makeAnew(rig, run, first);
    await run.untilCommitted(80);
    await waitFor('its question about the topic', () => asked.count > 0);
    first.signal('SIGTERM');
    expect((await first.untilExit()).code).toBe(0);
    const questionsSwallowed = asked.count;
    proxy.mend();
    const second = await run.start('a');
    expect(await lastLineOf(second)).toContain(`topic ${run.input} was deleted and made anew`);
    rig.expose({ topicsMadeAnew: 1, questionsSwallowed });
    exposed({ topicsMadeAnew: 1, questionsSwallowed: 1 });
  },
);

row('G3: stops when its input is deleted', async ({ rig, exposed }) => {
  const run = await startScenario(rig, { partitions: 2, transform: COPY, expect: copied });
  const processor = await run.startReady('a');
  await run.seeder.send(seeds(run.inputPartitions, 20));
  await run.untilCaughtUp();
  await rig.cluster.deleteTopics([run.input]);
  expect(await lastLineOf(processor)).toContain(`topic ${run.input} was deleted`);
  await rig.cluster.createTopic(run.input, run.inputPartitions.length); // the rig takes it away
  rig.expose({ topicsDeleted: 1 });
  exposed({ topicsDeleted: 1 });
});

row.for([
  ['D7: reads partitions that are added to its input from their beginning', 'earliest'],
  [
    'D7: reads partitions that are added to its input from their beginning, where it began at the end of the others',
    'latest',
  ],
] as const)('%s', async ([, startAt], { rig, exposed }) => {
  const topics = [`${rig.name}.in`];
  const run = await startScenario(rig, {
    consumer: { properties: { 'heartbeat.interval.ms': 500, 'topic.metadata.refresh.interval.ms': 3_000 } },
    pipeline: { input: { topics, key: 'string', value: 'json', startAt } },
  });
  const next = workload();
  const begunWith = run.inputPartitions.length;
  const before = startAt === 'latest' ? 5 : 0;
  await run.seeder.send(
    run.inputPartitions.flatMap(({ partition }) => Array.from({ length: before }, () => ({ ...next(), partition }))),
  );
  await run.startReady('a');
  await run.startReady('b');
  if (before > 0) await run.untilCaughtUp(); // each has begun where it was to begin
  const feed = run.seeder.feed(next, 200);
  await run.untilCommitted(400);
  const added = await run.addPartitions(3);
  const seeder = await startSeeder(rig.bootstrapServers, run.input);
  await seeder.send(added.flatMap(({ partition }) => Array.from({ length: 100 }, () => ({ ...next(), partition }))));
  await seeder.close();
  await waitFor('the new partitions to be assigned', async () => {
    const members = await rig.cluster.members(run.group);
    return members.reduce((sum, { partitions }) => sum + partitions.length, 0) === run.inputPartitions.length;
  });
  await feed.stop();
  const isDue = ({ partition, offset }: LogRecord) => partition >= begunWith || offset >= before;
  await run.judge({ sources: (await run.readInput()).filter(isDue) });
  rig.expose({ partitionsAdded: added.length });
  exposed({ partitionsAdded: 3, rebalances: 3, sources: 700 });
});
