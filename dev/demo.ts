/**
 * `npm run demo`: 20,000 real flights through config/flights.yaml on a real broker. The process is killed in the
 * middle of a transaction and started again; then what readers see is compared with the source file.
 *
 * Whatever it starts ends with it, also on Ctrl-C: see guard.ts.
 */
import { connectCluster, type Cluster } from '../test/helpers/cluster.ts';
import { useBroker } from './broker.ts';
import { contentsOf, expectedContents } from './demo/contents.ts';
import { feed, flightRecords } from './demo/flights.ts';
import { CONFIG, processWithKill } from './demo/process.ts';
import { createTopics, deleteTopics, INPUT, inputPartitions, readOutputs } from './demo/topics.ts';
import { compare, table, type Row } from './demo/verdict.ts';

async function demo(): Promise<readonly Row[]> {
  const broker = await useBroker();
  console.log(`broker: ${broker.origin}, ${broker.bootstrapServers}`);
  try {
    const cluster = await connectCluster(broker.bootstrapServers);
    try {
      await createTopics(cluster);
      const rows = await routeFlights(cluster, broker.bootstrapServers);
      await deleteTopics(cluster);
      return rows;
    } finally {
      await cluster.close();
    }
  } finally {
    await broker.remove();
  }
}

async function routeFlights(cluster: Cluster, bootstrapServers: string): Promise<readonly Row[]> {
  const records = flightRecords();
  const expected = expectedContents(records);
  const malformed = expected['dead letters'].length;
  console.log(`records: ${records.length} to the topic ${INPUT}, ${malformed} of them malformed`);
  console.log(`started: millrace run ${CONFIG}`);
  await Promise.all([feed(bootstrapServers, records), processWithKill(cluster, bootstrapServers, records.length)]);

  const visible = await readOutputs(cluster, bootstrapServers, 'read_committed');
  const written = await readOutputs(cluster, bootstrapServers, 'read_uncommitted');
  console.log(`rolled back: ${written.length - visible.length} records, in the topics but for no reader to see`);
  const input = await cluster.ends(inputPartitions);
  const recordsIn = input.reduce((sum, { highWatermark }) => sum + highWatermark, 0);
  return [{ what: 'flights in', expected: records.length, seen: recordsIn }, ...compare(expected, contentsOf(visible))];
}

function verdict(rows: readonly Row[]): string {
  const wrong = rows.filter(({ expected, seen }) => expected !== seen);
  if (wrong.length === 0) return `exactly once: each of ${rows[0]?.seen} records has its one result after a kill`;
  return `NOT exactly once: ${wrong.map(({ what, expected, seen }) => `${what} ${seen}, not ${expected}`).join('; ')}`;
}

try {
  const rows = await demo();
  console.log(table(rows));
  console.log(`verdict: ${verdict(rows)}`);
  process.exitCode = rows.every(({ expected, seen }) => expected === seen) ? 0 : 1;
} catch (error) {
  console.error(`the demo failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
