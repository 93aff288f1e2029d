import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import { partitionId } from '../../src/pipeline/ports.ts';
import { from, requestOf } from '../helpers/kafka-proxy/request.ts';
import type { Processor } from '../helpers/processor.ts';
import { removeMember } from '../helpers/remove-member.ts';
import { startScenario } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import { TRANSFORM, workload } from '../helpers/workload.ts';
import { rowsWith, through } from './rows.ts';

const row = rowsWith();

const PARTITIONS = 6;
const ROUNDS = 4;

const counted = async (processor: Processor, name: string, labels = {}): Promise<number> =>
  (await processor.metrics())?.sum(name, labels) ?? 0;

row.for([
  ['D2: commits what is open before it gives partitions up, one by one', 'cooperative-sticky'],
  ['D2: commits what is open before it gives partitions up, all at once', 'range'],
] as const)('%s', async ([, assignor], { rig, exposed }) => {
  // No transaction is due before the test ends: each commit is due to partitions that were given up, or to a stop.
  const run = await startScenario(rig, {
    partitions: PARTITIONS,
    pipeline: { transaction: { commitInterval: '5m', timeout: '10m' } },
    consumer: { assignor },
  });
  const first = await run.startReady('a');
  const feed = run.seeder.feed(workload(), 400);
  const commits = (): Promise<number> => counted(first, 'millrace_transactions_total', { outcome: 'committed' });

  for (let round = 0; round < ROUNDS; round++) {
    const assigned = async (): Promise<boolean> =>
      (await counted(first, 'millrace_assigned_partitions')) === PARTITIONS;
    await first.until('all partitions', assigned);
    await waitFor('records of an open transaction', () => run.hasOpenRecords());
    const before = await commits();
    const joined = await run.startReady(`b${round}`);
    await first.until('a commit before partitions were given up', async () => (await commits()) > before);
    const reads = async (): Promise<boolean> => (await counted(joined, 'millrace_records_consumed_total')) > 0;
    await joined.until('records of its own', reads);
    joined.signal('SIGTERM');
    expect(await joined.untilExit()).toEqual({ code: 0, signal: null });
  }
  await feed.stop();
  first.signal('SIGTERM');
  expect(await first.untilExit()).toEqual({ code: 0, signal: null });

  await run.startReady('rest', { pipeline: { transaction: { commitInterval: '100ms' } } });
  await run.judge();
  exposed({ rebalances: 2 * ROUNDS, transactions: ROUNDS });
});

row(
  'D3: commits nothing of what it read before a rebalance that was over when its offsets arrived',
  async ({ rig, proxy, exposed }) => {
    const run = await startScenario(rig, through(proxy));
    const [removed, other] = [await run.startReady('a'), await run.startReady('b')];
    await other.until('its share', async () => (await counted(other, 'millrace_assigned_partitions')) === 2);
    const feed = run.seeder.feed(workload(), 300);
    await run.untilCommitted(300);

    // 1. a reads and writes  2. a is out, and b has its partitions  3. a's offsets arrive, before it has heard of that.
    const heartbeat = proxy.hold(from('a', requestOf('Heartbeat')));
    await heartbeat.caught();
    const offsets = proxy.hold(from('a', requestOf('TxnOffsetCommit')));
    await offsets.caught();
    const [host = '', port] = rig.bootstrapServers.split(':');
    await removeMember(host, Number(port), run.group, `${run.group}.a.0`);
    await other.until('all partitions', async () => (await counted(other, 'millrace_assigned_partitions')) === 4);
    await offsets.release();
    await heartbeat.release();

    await run.untilCaughtUp();
    await feed.stop();
    await run.judge();
    expect(removed.exit).toBeNull();
    exposed({ requestsHeld: 2, abortedTransactions: 1, rebalances: 5 });
  },
);

const STUBBORN = 500;
/** The workload's transform, which notes each call, and fails for one record until a file is there. */
const FAILING = `import { appendFileSync, existsSync } from 'node:fs';\n${TRANSFORM.replace(
  'seq } }) => {',
  `seq } }, { source }) => {
  appendFileSync('./calls', [process.pid, source.partition, source.offset, ''].join(' ') + '\\n');
  if (id === ${STUBBORN} && !existsSync('./mended')) throw new Error('not yet');`,
)}`;

row(
  'D8: a rebalance takes a partition away in a long retry: the others go on, and its new owner starts at the committed offset',
  async ({ rig, exposed }) => {
    const run = await startScenario(rig, {
      transform: FAILING,
      pipeline: { retry: { attempts: 1_000, minDelay: '200ms', maxDelay: '500ms' } },
      // Partitions go to the members in the order of their names: the first ones will be a's.
      consumer: { assignor: 'range' },
    });
    await rig.write('calls', '');
    const calls = async (pid: number): Promise<number[][]> =>
      (await readFile(join(rig.folder, 'calls'), 'utf8'))
        .split('\n')
        .map((line) => line.split(' ').map(Number))
        .filter(([by]) => by === pid);
    const offsets = async (): Promise<ReadonlyMap<string, number>> =>
      rig.cluster.committed(run.group, run.inputPartitions);
    const [stuck, ...others] = run.inputPartitions.map(partitionId);
    const tries = async (processor: Processor, offset: number): Promise<number> =>
      (await calls(processor.pid)).filter(([, partition, at]) => partition === 0 && at === offset).length;
    const isPassed = async (before: ReadonlyMap<string, number>): Promise<boolean> => {
      const now = await offsets();
      return others.every((partition) => (now.get(partition) ?? 0) > (before.get(partition) ?? 0) + 50);
    };

    const first = await run.startReady('z');
    const next = workload();
    let sent = 0;
    const feed = run.seeder.feed(() => ({ ...next(), partition: sent++ % 4 }), 400);
    const at = STUBBORN / 4;
    await first.until('some tries', async () => (await tries(first, at)) >= 3);
    const atFirst = await offsets();
    await waitFor('the others to go on', () => isPassed(atFirst));

    const second = await run.startReady('a');
    await second.until('tries of its own', async () => (await tries(second, at)) >= 3);
    const before = await offsets();
    expect(before.get(stuck ?? ''), 'what is committed of the partition').toBe(at);
    expect(
      (await calls(second.pid)).find(([, partition]) => partition === 0),
      'its first call there',
    ).toEqual([second.pid, 0, at, 0]);
    await waitFor('the others to go on', () => isPassed(before));
    const triesOfFirst = await tries(first, at);

    await rig.write('mended', '');
    await run.untilCaughtUp();
    await feed.stop();
    await run.judge();
    expect(await tries(first, at), 'tries of the first owner').toBe(triesOfFirst);
    rig.expose({ triesOfFirst, triesOfSecond: await tries(second, at) });
    exposed({ triesOfFirst: 3, triesOfSecond: 4, rebalances: 3 });
  },
);
