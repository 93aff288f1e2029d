import { setTimeout as delay } from 'node:timers/promises';
import type { PartitionLog, TopicPartition, TopicPartitionOffset } from '../pipeline/ports.ts';
import { classify } from './errors.ts';
import { type CommittedOffset, type ConsumerClient, promised } from './native.ts';

const CALL_MS = 10_000;
/** A seek that comes too early after an assignment is refused; it succeeds a little later. */
const SEEK_TRIES = 100;
const SEEK_PAUSE_MS = 50;

/** The group's committed offsets; -1 where there is none. */
export async function committedOffsets(
  client: ConsumerClient,
  partitions: readonly TopicPartition[],
): Promise<CommittedOffset[]> {
  try {
    const answer = await promised<CommittedOffset[]>((done) => {
      client.committed(
        partitions.map(({ topic, partition }) => ({ topic, partition })),
        CALL_MS,
        done,
      );
    });
    return answer.map(({ topic, partition, offset, metadata }) => {
      // "None" comes as a negative logical offset, or without one.
      return { topic, partition, offset: typeof offset === 'number' && offset >= 0 ? offset : -1, metadata };
    });
  } catch (error) {
    throw classify(error, 'reading committed offsets');
  }
}

export async function partitionLog(
  client: ConsumerClient,
  { topic, partition }: TopicPartition,
): Promise<PartitionLog> {
  try {
    // With read_committed the broker answers with the last stable offset.
    const { lowOffset, highOffset } = await promised<{ lowOffset: number; highOffset: number }>((done) => {
      client.queryWatermarkOffsets(topic, partition, CALL_MS, done);
    });
    return { topic, partition, logStart: lowOffset, lastStable: highOffset };
  } catch (error) {
    throw classify(error, `reading the ends of ${topic}-${partition}`);
  }
}

export async function seekAll(client: ConsumerClient, positions: readonly TopicPartitionOffset[]): Promise<void> {
  // All of them end before this does: a seek that went on by itself could meet the next poll, or the next rewind.
  const seeks = await Promise.allSettled(positions.map((position) => seek(client, position)));
  for (const outcome of seeks) if (outcome.status === 'rejected') throw outcome.reason;
}

async function seek(client: ConsumerClient, position: TopicPartitionOffset): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await promised<undefined>((done) => {
        client.seek(position, CALL_MS, done);
      });
      return;
    } catch (error) {
      if (attempt === SEEK_TRIES) {
        throw classify(error, `seek to ${position.topic}-${position.partition} ${position.offset}`);
      }
      await delay(SEEK_PAUSE_MS);
    }
  }
}

/** Assigns what is assigned already, at new positions: a seek is refused where reading has stopped. */
export function assignAgain(
  client: ConsumerClient,
  positions: readonly TopicPartitionOffset[],
  isCooperative: boolean,
): void {
  try {
    if (isCooperative) {
      client.incrementalUnassign(positions);
      client.incrementalAssign(positions);
    } else {
      client.assign(positions);
    }
  } catch (error) {
    throw classify(error, 'assigning partitions again');
  }
}
