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
import { compare, countRow, table, type Row } from './demo/verdict.ts';

const SHOWN_CULPRITS = 5;

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
  return [countRow('flights in', records.length, recordsIn), ...compare(expected, contentsOf(visible))];
}

/** Prints the table, what is wrong, and the verdict. */
function report(rows: readonly Row[]): boolean {
  console.log(table(rows));
  const wrong = rows.filter(({ expected, seen }) => expected !== seen);
  for (const { what, culprits } of wrong)
    for (const culprit of culprits.slice(0, SHOWN_CULPRITS)) console.log(`${what}: ${culprit}`);
  const figures = wrong.map(({ what, expected, seen }) => `${what} ${seen} instead of ${expected}`).join(', ');
  console.log(
    wrong.length === 0
      ? `verdict: exactly once: a kill, and each of ${rows[0]?.seen} records has its one result`
      : `verdict: NOT exactly once: ${figures}`,
  );
  return wrong.length === 0;
}

try {
  process.exitCode = report(await demo()) ? 0 : 1;
} catch (error) {
  console.error(`the demo failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
