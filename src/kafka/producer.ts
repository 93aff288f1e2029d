import type { ClientProperties, ClusterConfig } from '../config/compiled.ts';
import type { Consumer, OutputRecord, Producer as ProducerPort, TopicPartitionOffset } from '../pipeline/ports.ts';
import { ClientError } from '../pipeline/ports.ts';
import { clusterProperties } from './cluster-properties.ts';
import { connect } from './connect.ts';
import { KafkaInput } from './consumer.ts';
import { explained, type Needs, unmetNeeds } from './denials.ts';
import { classify, QUEUE_FULL, TOPIC_DENIED, UNKNOWN_PARTITION } from './errors.ts';
import type { LastEnd } from './last-end.ts';
import { type NativeConf, type NativeHeaders, Producer, type ProducerClient, promised } from './native.ts';
import { present, presentHeader } from './present.ts';
import { maxRecordBytes } from './record-limit.ts';
import { denied } from './topics.ts';

export interface ProducerOptions {
  cluster: ClusterConfig;
  clientId: string;
  needs: Needs;
  /** Largest record batch to build; smaller than what every output topic accepts (`max.message.bytes`). */
  batchBytes: number;
  properties: ClientProperties;
  report: (error: Error) => void;
  /** Repeats the end of the last transaction; of one transactional id there is one. */
  lastEnd: LastEnd;
  /** Whether a topic that is missing or denied is refused at once; else only what is written to it is. */
  checksTopics: boolean;
}

/**
 * How long one call to commit may take; the next one goes on with it. Behind a refused record it waits for others that
 * will never be sent, and only the next call tells of the refusal.
 */
const COMMIT_TRY_MS = 1_000;

/** As long as for a consumer. */
const CUT_OFF_MS = 30_000;

export class TransactionalProducer implements ProducerPort {
  readonly maxRecordBytes: number;
  readonly #options: ProducerOptions;
  readonly #requestTimeoutMs: number;
  #client: ProducerClient | null = null;
  #checksTopics: boolean;
  /** Whether the end of the last transaction was repeated. */
  #isEnded = false;
  /** Clients that others took the place of, until they are gone. */
  readonly #dropped: Promise<void>[] = [];
  /** `performance.now()` when this client could not be opened first. */
  #failing: number | null = null;
  #doubt: 'slow-call' | 'disconnected' | null = null;
  readonly #onlyEventId: [Record<'event-id', string>] = [{ 'event-id': '' }];
  #lastCall: Promise<unknown> = Promise.resolve();
  /** `performance.now()` when the call began that is repeated until it succeeds or fails for good. */
  #began: number | null = null;

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.#checksTopics = options.checksTopics;
    // Well below the transaction timeout: a request that got lost is then noticed, and the producer recycled, while
    // the transaction still lives.
    this.#requestTimeoutMs = Math.max(1_000, Math.min(10_000, Math.floor(options.needs.transactionTimeoutMs / 3)));
    this.maxRecordBytes = maxRecordBytes(options.properties);
  }

  #configuration(): NativeConf {
    const { options, requestTimeoutMs } = { options: this.#options, requestTimeoutMs: this.#requestTimeoutMs };
    return {
      // As the Java clients have it: keys stay with their partitions whoever writes.
      partitioner: 'murmur2_random',
      'compression.type': 'lz4',
      'linger.ms': 5,
      // Each next transaction meets CONCURRENT_TRANSACTIONS while the markers of the last are written.
      'retry.backoff.ms': 20,
      'queue.buffering.max.messages': 200_000,
      'queue.buffering.max.kbytes': 65_536,
      'batch.size': options.batchBytes,
      'socket.timeout.ms': requestTimeoutMs,
      'message.max.bytes': this.maxRecordBytes,
      ...options.properties,
      // The guarantee rests on what follows: nothing may come after it.
      ...clusterProperties(options.cluster),
      'client.id': options.clientId,
      'transactional.id': options.needs.transactionalId,
      'transaction.timeout.ms': options.needs.transactionTimeoutMs,
      'enable.idempotence': true,
      'allow.auto.create.topics': false,
      dr_cb: false, // a delivery that fails makes the commit fail: no call-back per record is needed
    };
  }

  async init(signal: AbortSignal): Promise<void> {
    this.#client ??= await this.#connect(signal);
    try {
      await this.#open(this.#client, signal);
      this.#failing = null;
    } catch (error) {
      if (error instanceof ClientError && error.kind === 'retriable') this.#lookForBrokers(error);
      throw error;
    }
  }

  async #connect(signal: AbortSignal): Promise<ProducerClient> {
    const create = () => {
      const client = new Producer(this.#configuration());
      // A lost connection raises no error, and one that does comes late; the log tells at once. Within 30 s it tells
      // the same only once, hence this counts outside of transactions, too.
      client.on('event.log', (event) => {
        const { fac } = event as { fac?: string };
        if (fac === 'FAIL' || fac === 'REQTMOUT') this.#doubt ??= 'disconnected';
      });
      return client;
    };
    const { client } = await connect(create, this.#options.cluster, signal, this.#options.report);
    return client;
  }

  async #open(client: ProducerClient, signal: AbortSignal): Promise<void> {
    if (this.#checksTopics) await this.#checkTopics();
    const { lastEnd } = this.#options;
    if (!this.#isEnded) await (this.#lastCall = lastEnd.repeat(client, signal));
    this.#isEnded = true; // once is enough, however often this is called
    await this.#call('initTransactions', (connected, done) => {
      connected.initTransactions(this.#requestTimeoutMs * 2, done);
    });
    // What was under way before belongs to an epoch that is over now.
    this.#doubt = null;
  }

  /** The client may forget all brokers for good (librdkafka #5301): after a while the next try takes a new one. */
  #lookForBrokers(error: ClientError): void {
    const now = performance.now();
    this.#failing ??= now;
    if (now - this.#failing < CUT_OFF_MS) return;
    this.#failing = null;
    this.#options.report(new Error(`a producer could not be opened for a while and connects anew: ${error.message}`));
    this.#dropped.push(this.#disconnect());
  }

  async #checkTopics(): Promise<void> {
    const problems = await unmetNeeds(this.#connected, this.#options.needs.topics).catch((error: unknown) => {
      throw classify(error, 'looking for the topics');
    });
    if (problems.length > 0) throw new ClientError(problems.join('; '), 'denied', TOPIC_DENIED);
    this.#checksTopics = false;
  }

  get #connected(): ProducerClient {
    if (!this.#client) throw new ClientError('the producer is not connected', 'fatal', 0);
    return this.#client;
  }

  async #call(name: string, call: (client: ProducerClient, done: (error: unknown) => void) => void): Promise<void> {
    const client = this.#connected;
    const began = (this.#began ??= performance.now());
    try {
      const answer = promised<undefined>((done) => {
        call(client, done as (error: unknown) => void);
      });
      this.#lastCall = answer;
      await answer;
      this.#began = null;
    } catch (error) {
      const failure = classify(error, name);
      if (failure.kind !== 'retriable') this.#began = null;
      throw await explained(failure, client, this.#options.needs);
    } finally {
      // Longer than half the request timeout: a request may have been sent twice, and the first copy still be under way.
      if (performance.now() - began > this.#requestTimeoutMs / 2) this.#doubt ??= 'slow-call';
    }
  }

  async begin(): Promise<void> {
    await this.#call('beginTransaction', (client, done) => {
      client.beginTransaction(done);
    });
  }

  produce(records: readonly OutputRecord[], from: number): number {
    const client = this.#connected;
    const native = client.getClient();
    let index = from;
    for (; index < records.length; index++) {
      const record = records[index];
      if (!record) break;
      const code = native.produce(
        record.topic,
        record.partition ?? -1,
        present(record.value),
        present(record.key),
        // To the client 0 means "now", which is further from the truth than a millisecond.
        record.timestamp === 0 ? 1 : record.timestamp,
        undefined,
        this.#headers(record),
      );
      if (code === QUEUE_FULL) break;
      if (code !== 0) throw refusal(code, record);
    }
    client.poll(); // delivered records count against the queue until then
    return index;
  }

  /** The client copies the headers before `produce` returns, so the usual ones are written into one object. */
  #headers({ headers, eventId }: OutputRecord): NativeHeaders | undefined {
    const [only] = this.#onlyEventId;
    if (eventId !== undefined) only['event-id'] = eventId;
    if (headers === undefined) return eventId === undefined ? undefined : this.#onlyEventId;
    const all: Record<string, Buffer | string>[] = headers.map(presentHeader);
    if (eventId !== undefined) all.push(only);
    return all;
  }

  async sendOffsets(offsets: readonly TopicPartitionOffset[], consumer: Consumer): Promise<void> {
    if (!(consumer instanceof KafkaInput)) throw new ClientError('offsets are sent for this client only', 'fatal', 0);
    await this.#call('sendOffsetsToTransaction', (client, done) => {
      client.sendOffsetsToTransaction(consumer.toCommit(offsets), consumer.client, this.#requestTimeoutMs * 2, done);
    });
  }

  async commit(): Promise<void> {
    await this.#call('commitTransaction', (client, done) => {
      client.commitTransaction(COMMIT_TRY_MS, done);
    });
  }

  async abort(): Promise<void> {
    await this.#call('abortTransaction', (client, done) => {
      client.abortTransaction(this.#requestTimeoutMs * 2, done);
    });
  }

  doubt(): 'slow-call' | 'disconnected' | null {
    return this.#doubt;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#dropped, this.#disconnect()]);
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    if (!client?.isConnected()) return;
    // The client takes no lock: to disconnect it during a call is a crash.
    await this.#lastCall.catch(() => undefined); // its error has been dealt with by its caller
    await new Promise<void>((resolve) => {
      client._disconnect(resolve);
    });
  }
}

function refusal(code: number, { topic, partition }: OutputRecord): ClientError {
  const unknown = code === UNKNOWN_PARTITION && partition !== undefined;
  const message = unknown ? `topic ${topic} has no partition ${partition}` : `a record for topic ${topic} is refused`;
  if (code === TOPIC_DENIED) return new ClientError(denied('Write', 'topic', topic), 'denied', code);
  return classify({ code, message }, 'produce');
}
