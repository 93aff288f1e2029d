import type { Lane } from './lane.ts';
import type { PartitionStatus } from './observer.ts';
import type { Consumer } from './ports.ts';

/** Without a commit for this long while records wait, a pipeline is not ready any more. */
const STALL_MS = 30_000;

/**
 * Records between what is committed and the last stable offset. Control records and aborted records behind the last
 * record are never read: where only those are left nothing is to be done, though the position may not be committed yet.
 */
export function lagOf(lane: Lane, consumer: Consumer): number | null {
  const state = consumer.fetched(lane);
  if (!state || state.lastStable < 0) return null;
  return Math.max(0, state.lastStable - lane.position);
}

export function partitionStatuses(lanes: readonly Lane[], consumer: Consumer): PartitionStatus[] {
  return lanes.map((lane) => ({
    topic: lane.topic,
    partition: lane.partition,
    committed: lane.pinned ? lane.committed : null,
    lag: lagOf(lane, consumer),
    held: lane.held,
  }));
}

export interface Progress {
  joined: boolean;
  /** The brokers' addresses while none of them is connected. */
  unreached: string | null;
  recovering: boolean;
  /** ms since the last commit, or since the start. */
  sinceCommitMs: number;
  commitIntervalMs: number;
}

/** Why no records flow, or could flow; empty when the pipeline is ready. */
export function unreadyReasons(partitions: readonly PartitionStatus[], progress: Progress): string[] {
  const reasons: string[] = [];
  if (progress.unreached !== null) reasons.push(`no broker is connected at ${progress.unreached}`);
  else if (!progress.joined) reasons.push('has not joined its consumer group yet');
  if (progress.recovering) reasons.push('waits for its transactional producer');
  for (const { topic, partition, held } of partitions) {
    if (held !== null) reasons.push(`${topic}-${partition} is held at ${held}`);
  }
  const waiting = partitions.reduce((sum, { lag }) => sum + (lag ?? 0), 0);
  if (waiting > 0 && progress.sinceCommitMs > Math.max(STALL_MS, 3 * progress.commitIntervalMs)) {
    const seconds = Math.round(progress.sinceCommitMs / 1000);
    reasons.push(`nothing was committed for ${seconds} s while ${waiting} records wait`);
  }
  return reasons;
}
