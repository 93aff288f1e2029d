import type { Cluster } from '../../test/helpers/cluster.ts';
import { contentsOf, expectedContents } from './contents.ts';
import { feed, type FlightRecord } from './flights.ts';
import { processWithKills, type Watch } from './process.ts';
import { createTopics, readOutputs, recordsIn } from './topics.ts';
import { compare, countRow, type Row } from './verdict.ts';

export interface Outcome {
  /** What was expected beside what readers see. */
  readonly rows: readonly Row[];
  /** Records of the killed processes' transactions: in the topics, but not for readers. */
  readonly rolledBack: number;
}

/** Feeds the records, has them routed by processes that are killed on the way, and looks at what came out. The topics are left to the caller. */
export async function routeFlights(
  cluster: Cluster,
  bootstrapServers: string,
  records: readonly FlightRecord[],
  watch: Watch,
): Promise<Outcome> {
  await createTopics(cluster);
  await Promise.all([
    feed(bootstrapServers, records),
    processWithKills(cluster, bootstrapServers, records.length, watch),
  ]);
  const visible = await readOutputs(cluster, bootstrapServers, 'read_committed');
  const written = await readOutputs(cluster, bootstrapServers, 'read_uncommitted');
  const rows = [
    countRow('records in', records.length, await recordsIn(cluster)),
    ...compare(expectedContents(records), contentsOf(visible)),
  ];
  return { rows, rolledBack: written.length - visible.length };
}
