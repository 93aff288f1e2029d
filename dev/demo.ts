/**
 * `npm run demo`: 20,000 real flights through config/flights.yaml on a real broker. The process is killed in the
 * middle of a transaction and started again; then what readers see is compared with the source file.
 *
 * Whatever it starts ends with it, also on Ctrl-C: see guard.ts.
 */
import { connectCluster } from '../test/helpers/cluster.ts';
import { useBroker } from './broker.ts';
import { flightRecords } from './demo/flights.ts';
import { CONFIG } from './demo/process.ts';
import { Progress } from './demo/progress.ts';
import { type Outcome, routeFlights } from './demo/route-flights.ts';
import { table } from './demo/verdict.ts';

const SHOWN_CULPRITS = 5;

async function demo(): Promise<Outcome> {
  const broker = await useBroker();
  console.log(`broker: ${broker.origin}, ${broker.bootstrapServers}`);
  const cluster = await connectCluster(broker.bootstrapServers);
  try {
    const records = flightRecords();
    const malformed = records.filter(({ flight }) => flight === 'malformed').length;
    console.log(`records: ${records.length - malformed} flights and ${malformed} malformed`);
    console.log(`started: millrace run ${CONFIG}`);
    const progress = new Progress(records.length);
    try {
      return await routeFlights(cluster, broker.bootstrapServers, records, {
        committed: (count) => progress.update(count),
        killed: ({ committed, inTransaction }) =>
          progress.say(
            `killed: SIGKILL ${inTransaction ? 'in an open transaction' : 'between two transactions'}, ` +
              `${committed} of ${records.length} committed; started again`,
          ),
      });
    } finally {
      progress.stop();
    }
  } finally {
    await cluster.close();
    await broker.remove();
  }
}

/** Prints the table, what is wrong, and the verdict. */
function report({ rows, rolledBack }: Outcome): boolean {
  console.log(
    `rolled back: ${rolledBack} records of the killed process, which readers of committed records do not see`,
  );
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
