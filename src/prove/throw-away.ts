import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaAdmin, TopicShape } from '../kafka/admin.ts';
import { ClientError, type TopicPartition } from '../pipeline/ports.ts';
import { partitionsOf } from './log-record.ts';
import { allowed } from './reach.ts';

/** What a copy needs to give all records back that were written to it, whatever the brokers' defaults are. */
const TOPIC_CONFIG = {
  'cleanup.policy': 'delete',
  'retention.ms': '-1',
  'retention.bytes': '-1',
  // A broker's own clock would overwrite what the outputs are compared by.
  'message.timestamp.type': 'CreateTime',
  'max.message.bytes': String(8 << 20),
};

const UNKNOWN_TOPIC = 3;
const GROUP_ID_NOT_FOUND = 69;
/** A member that was killed is one of the group until its session is over. */
const GROUP_PATIENCE_MS = 20_000;
const PAUSE_MS = 500;

/** The topics and the group that a proof creates, until it removes them. */
export class ThrowAway {
  readonly #admin: KafkaAdmin;
  readonly #group: string;
  readonly #topics: string[] = [];

  constructor(admin: KafkaAdmin, group: string) {
    this.#admin = admin;
    this.#group = group;
  }

  /** Returns the topics' partitions. */
  async create(shapes: ReadonlyMap<string, TopicShape>, signal: AbortSignal): Promise<TopicPartition[]> {
    for (const [topic, shape] of shapes) {
      signal.throwIfAborted();
      // Before it is there: a call that fails may have created it.
      this.#topics.push(topic);
      await allowed(this.#admin.createTopic(topic, shape, TOPIC_CONFIG));
    }
    return [...shapes].flatMap(([topic, shape]) => partitionsOf(topic, shape.partitions));
  }

  /** Returns what is left behind, and why. Nobody may use it any more. */
  async remove(): Promise<string[]> {
    const left: string[] = [];
    for (const topic of this.#topics) {
      await this.#admin.deleteTopic(topic).catch((error: unknown) => {
        if (!isGone(error)) left.push(`topic ${topic} (${reasonOf(error)})`);
      });
    }
    if (this.#topics.length > 0) left.push(...(await this.#removeGroup()));
    return left;
  }

  async #removeGroup(): Promise<string[]> {
    const deadline = performance.now() + GROUP_PATIENCE_MS;
    for (;;) {
      try {
        await this.#admin.deleteGroup(this.#group);
        return [];
      } catch (error) {
        if (isGone(error)) return [];
        if (performance.now() > deadline) return [`group ${this.#group} (${reasonOf(error)})`];
      }
      await delay(PAUSE_MS);
    }
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof ClientError && (error.code === UNKNOWN_TOPIC || error.code === GROUP_ID_NOT_FOUND);

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
