import type { ClusterConfig } from '../config/compiled.ts';
import type { TopicPartition } from '../pipeline/ports.ts';
import { clusterProperties } from './cluster-properties.ts';
import type { Needs } from './denials.ts';
import { type ConsumerClient, KafkaConsumer, type NativeConf } from './native.ts';
import { fetchStates, type Statistics } from './statistics.ts';

export interface ConsumerOptions {
  cluster: ClusterConfig;
  clientId: string;
  needs: Needs;
  topics: readonly string[];
  protocol: 'classic' | 'consumer';
  assignor: string;
  sessionTimeoutMs: number;
  maxPollIntervalMs: number;
  instanceId: string | null;
  /** librdkafka properties of the user; the configuration has refused those that would weaken the guarantee. */
  properties: Readonly<Record<string, string | number | boolean>>;
  report: (error: Error) => void;
}

export interface ConsumerEvents {
  rebalance(client: ConsumerClient, code: number, partitions: TopicPartition[]): void;
  /** There may be something to consume. */
  arrived(): void;
  /** About once a second. */
  statistics(client: ConsumerClient, statistics: Statistics): void;
}

function configuration(options: ConsumerOptions): NativeConf {
  const classic =
    options.protocol === 'classic'
      ? {
          'partition.assignment.strategy': options.assignor,
          'session.timeout.ms': options.sessionTimeoutMs,
          'heartbeat.interval.ms': Math.min(3_000, Math.floor(options.sessionTimeoutMs / 3)),
        }
      : {};
  return {
    // With the default of 1,000 ms fetching stops for a second whenever the local queue is full.
    'fetch.queue.backoff.ms': 10,
    'fetch.message.max.bytes': 1 << 20,
    'queued.min.messages': 50_000,
    'queued.max.messages.kbytes': 32_768,
    'socket.timeout.ms': 30_000,
    'statistics.interval.ms': 1_000,
    ...classic,
    ...options.properties,
    // The guarantee rests on what follows: nothing may come after it.
    ...clusterProperties(options.cluster),
    'client.id': options.clientId,
    'group.id': options.needs.groupId,
    'group.protocol': options.protocol,
    ...(options.instanceId === null ? {} : { 'group.instance.id': options.instanceId }),
    'max.poll.interval.ms': options.maxPollIntervalMs,
    'isolation.level': 'read_committed', // also turns on stable offset fetching
    'enable.auto.commit': false,
    'enable.auto.offset.store': false,
    // Comes in order behind a partition's records, and none from before a seek does: what statistics say of the fetch
    // position is neither.
    'enable.partition.eof': true,
    'auto.offset.reset': 'error', // the start is chosen by the assignment; a position is never changed silently
  };
}

/** Makes a client, not yet connected. */
export function createConsumerClient(options: ConsumerOptions, events: ConsumerEvents): ConsumerClient {
  const client = new KafkaConsumer({
    ...configuration(options),
    rebalance_cb: (error: { code: number }, partitions: TopicPartition[]) => {
      events.rebalance(client, error.code, partitions);
    },
    queue_non_empty_cb: () => {
      events.arrived();
    },
  });
  client.on('event.stats', (event) => {
    events.statistics(client, fetchStates(event));
  });
  return client;
}
