import { contentsOf, expectedContents } from './contents.ts';
import { feed, type FlightRecord } from './flights.ts';
import type { KeptBroker } from './kept-broker.ts';
import { processWithKills, type Watch } from './process.ts';
import { createTopics, readInput, readOutputs } from './topics.ts';
import { compare, countRow, type Row } from './verdict.ts';

export interface Outcome {
  /** What was expected beside what readers see. */
  readonly rows: readonly Row[];
  /** Records of the killed processes' transactions: in the topics, but not for readers. */
  readonly rolledBack: number;
}

/** Feeds the records, has them routed by processes that are killed on the way, and looks at what came out. The topics are left to the caller. */
export async function routeFlights(
  broker: KeptBroker,
  records: readonly FlightRecord[],
  watch: Watch,
): Promise<Outcome> {
  await createTopics(broker);
  await Promise.all([feed(broker, records), processWithKills(broker, records.length, watch)]);
  const sent = await broker.withCluster((cluster) => readInput(cluster, broker.bootstrapServers));
  const visible = await readOutputs(broker, 'read_committed');
  const written = await readOutputs(broker, 'read_uncommitted');
  const rows = [
    countRow('records in', records.length, sent.length),
    ...compare(expectedContents(records), contentsOf(visible)),
  ];
  return { rows, rolledBack: written.length - visible.length };
}
