/**
 * `npm run demo`: 20,000 real flights through config/flights.yaml on a real broker. A worker is killed in the middle of a
 * transaction, later the supervisor, then the broker; whatever else somebody kills meanwhile is started again, too. Then what
 * readers see is compared with the source file. Where PostgreSQL is installed, the delayed flights go on to a database and a
 * service through config/flights-effects.yaml.
 *
 * Whatever it starts ends with it, also on Ctrl-C: see guard.ts.
 */
import { useBroker } from './broker.ts';
import { applyEffects, EFFECTS_CONFIG } from './demo/apply-effects.ts';
import { effectsTable, wrongEffects } from './demo/effects-verdict.ts';
import { flightRecords } from './demo/flights.ts';
import { keepBroker, type KeptBroker } from './demo/kept-broker.ts';
import { CONFIG } from './demo/process.ts';
import { Progress } from './demo/progress.ts';
import { type Outcome, routeFlights } from './demo/route-flights.ts';
import { Story } from './demo/story.ts';
import { deleteTopics } from './demo/topics.ts';
import { type Row, table } from './demo/verdict.ts';
import { hasPostgres } from './setup/postgres.mjs';

const SHOWN_CULPRITS = 5;

/** Gives whether all is right. */
async function demo(): Promise<boolean> {
  const story = new Story();
  const given = await useBroker();
  const broker = keepBroker(given, story);
  try {
    console.log(`broker: ${given.origin}, ${given.bootstrapServers}`);
    if (broker.killCommand !== undefined) story.started('broker', broker.killCommand);
    const outcome = await showFlights(broker, story);
    const areEffectsRight = await showEffects(broker, story);
    // One of our own goes with its topics.
    if (broker.killCommand === undefined) await broker.withCluster(deleteTopics);
    return showVerdict(outcome, story) && areEffectsRight;
  } finally {
    await broker.remove();
  }
}

/** Has the flights routed; prints the table and what is wrong. */
async function showFlights(broker: KeptBroker, story: Story): Promise<Outcome> {
  const records = flightRecords();
  const malformed = records.filter(({ flight }) => flight === 'malformed').length;
  console.log(`records: ${records.length - malformed} flights and ${malformed} malformed`);
  console.log(`started: millrace run ${CONFIG}`);
  const progress = new Progress(records.length);
  story.say = (line) => progress.say(line);
  let outcome: Outcome;
  try {
    outcome = await routeFlights(broker, records, { witness: story, committed: (count) => progress.update(count) });
  } finally {
    progress.stop();
    story.say = console.log;
  }
  const { rows, rolledBack } = outcome;
  console.log(
    `rolled back: ${rolledBack} records of the killed processes, which readers of committed records do not see`,
  );
  console.log(table(rows));
  for (const { what, culprits } of wrongRows(outcome))
    for (const culprit of culprits.slice(0, SHOWN_CULPRITS)) console.log(`${what}: ${culprit}`);
  return outcome;
}

/** Has the delayed flights applied outside of Kafka; gives false where that went wrong. */
async function showEffects(broker: KeptBroker, story: Story): Promise<boolean> {
  if (!hasPostgres()) {
    console.log(`effects: left out, since there is no PostgreSQL on this machine to run ${EFFECTS_CONFIG} with`);
    return true;
  }
  console.log(`started: millrace run ${EFFECTS_CONFIG}, with a PostgreSQL and a desk service`);
  try {
    const applied = await applyEffects(broker, story);
    console.log(effectsTable(applied));
    const wrong = wrongEffects(applied);
    console.log(
      wrong.length === 0
        ? `effects: at least once, and what came twice changed nothing: a row and a key for each of ${applied.events.length}`
        : `effects: WRONG: ${wrong.join('; ')}`,
    );
    return wrong.length === 0;
  } catch (error) {
    // The flights' verdict stands all the same.
    console.error(`effects: FAILED: ${messageOf(error)}`);
    return false;
  }
}

function showVerdict(outcome: Outcome, story: Story): boolean {
  const wrong = wrongRows(outcome);
  const figures = wrong.map(({ what, expected, seen }) => `${what} ${seen} instead of ${expected}`).join(', ');
  console.log(
    wrong.length === 0
      ? `verdict: exactly once: ${story.kills}, and each of ${outcome.rows[0]?.seen} records has its one result`
      : `verdict: NOT exactly once: ${story.kills}, and ${figures}`,
  );
  return wrong.length === 0;
}

function wrongRows({ rows }: Outcome): Row[] {
  return rows.filter(({ expected, seen }) => expected !== seen);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

try {
  process.exitCode = (await demo()) ? 0 : 1;
} catch (error) {
  console.error(`the demo failed: ${messageOf(error)}`);
  process.exitCode = 1;
}
