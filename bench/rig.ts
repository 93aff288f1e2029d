import type { Cluster } from '../test/helpers/cluster.ts';
import type { Partition } from '../src/prove/log-record.ts';

/** What every run needs. */
export interface Rig {
  readonly bootstrapServers: string;
  readonly cluster: Cluster;
  /** The built command, absolute. */
  readonly millrace: string;
  /** How long to wait for a quiet machine before each run. */
  readonly patienceMs: number;
  /** What makes the figures doubtful, to be said below them. */
  readonly doubts: string[];
}

export const PARTITIONS = 4;

export function partitionsOf(topic: string): Partition[] {
  return Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition }));
}

/** Progress, apart from the results on standard output. */
export function say(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
