import { z } from 'zod';
import type { FetchState } from '../pipeline/ports.ts';

/** The little that is taken from librdkafka's statistics (its STATISTICS.md describes all fields). */
const Report = z.object({
  brokers: z.record(z.string(), z.object({ state: z.string() })).default({}),
  topics: z
    .record(
      z.string(),
      z.object({
        partitions: z.record(
          z.string(),
          z.object({
            partition: z.number(),
            lo_offset: z.number(),
            ls_offset: z.number(),
            next_offset: z.number(),
            fetch_state: z.string(),
          }),
        ),
      }),
    )
    .default({}),
});

export interface Statistics {
  connected: boolean;
  /** By topic, then partition. */
  partitions: ReadonlyMap<string, ReadonlyMap<number, FetchState>>;
}

const known = (offset: number) => (offset >= 0 ? offset : -1);

/** Reads one statistics event of the client. */
export function fetchStates(event: unknown): Statistics {
  const text = (event as { message: string }).message;
  const { brokers, topics } = Report.parse(JSON.parse(text));
  const partitions = new Map<string, Map<number, FetchState>>();
  for (const [topic, { partitions: states }] of Object.entries(topics)) {
    const byPartition = new Map<number, FetchState>();
    for (const state of Object.values(states)) {
      byPartition.set(state.partition, {
        logStart: known(state.lo_offset),
        lastStable: known(state.ls_offset),
        nextFetch: known(state.next_offset),
        hasStopped: state.fetch_state === 'none',
      });
    }
    partitions.set(topic, byPartition);
  }
  return { connected: Object.values(brokers).some(({ state }) => state === 'UP'), partitions };
}
