import { setTimeout as delay } from 'node:timers/promises';
import type { InputRecord } from '../pipeline/ports.ts';
import type { ToolOptions } from './admin.ts';
import { clusterProperties } from './cluster-properties.ts';
import { connect } from './connect.ts';
import { classify, QUEUE_FULL } from './errors.ts';
import { disconnected, Producer, type ProducerClient } from './native.ts';
import { present, presentHeader } from './present.ts';

const POLL_MS = 20;
/** What a record may have at most: as much as the brokers took of it before. */
const MAX_RECORD_BYTES = 100 << 20;

/** Writes records to given partitions, in order and without repeats, outside of any transaction. */
export class IdempotentProducer {
  readonly #client: ProducerClient;
  #sent = 0;
  #settled = 0;
  #failure: Error | null = null;

  private constructor(client: ProducerClient) {
    this.#client = client;
    client.on('delivery-report', (error) => {
      this.#settled++;
      if (error) this.#failure ??= classify(error, 'writing');
    });
    client.setPollInterval(POLL_MS);
  }

  static async connect(options: ToolOptions, signal: AbortSignal): Promise<IdempotentProducer> {
    const create = () => {
      const conf = {
        'linger.ms': 5,
        ...options.properties,
        'message.max.bytes': MAX_RECORD_BYTES,
        ...clusterProperties(options.cluster),
        'client.id': options.clientId,
        'enable.idempotence': true,
        'allow.auto.create.topics': false,
        dr_cb: true,
      };
      return new Producer(conf);
    };
    const { client } = await connect(create, options.cluster, signal, options.report);
    return new IdempotentProducer(client);
  }

  /** Resolves once the record is in the client's queue. Throws what kept an earlier one from being written. */
  async send({ topic, partition, value, key, timestamp, headers }: InputRecord, signal: AbortSignal): Promise<void> {
    for (;;) {
      if (this.#failure) throw this.#failure;
      const code = this.#client.getClient().produce(
        topic,
        partition,
        present(value),
        present(key),
        // To the client 0 means "now".
        Math.max(timestamp, 1),
        undefined,
        headers?.map(presentHeader),
      );
      if (code === 0) break;
      if (code !== QUEUE_FULL) throw classify({ code, message: `a record for ${topic} is refused` }, 'writing');
      await delay(POLL_MS, undefined, { signal });
    }
    this.#sent++;
  }

  /** Resolves once all that was sent is written. */
  async flush(signal: AbortSignal): Promise<void> {
    while (this.#settled < this.#sent) await delay(POLL_MS, undefined, { signal });
    if (this.#failure) throw this.#failure;
  }

  close(): Promise<void> {
    return disconnected(this.#client);
  }
}
