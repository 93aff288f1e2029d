import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterConfig } from '../config/compiled.ts';
import { ClientError } from '../pipeline/ports.ts';
import { classify, complaint, STATE } from './errors.ts';
import { type Client, type Metadata, promised } from './native.ts';
import { watchConnections } from './refusals.ts';

/** How long one try to reach a broker may take; short, so that a stop is answered soon. */
const TRY_MS = 3_000;
/** The next one after a refusal, which comes sooner. */
const REFUSED_TRY_MS = 1_000;
const PAUSE_MS = 500;
/** A broker that goes down or comes up may break off an authentication; not so often in a row. */
const MAX_REFUSALS = 3;
/** How often the client is asked for its events while it connects. */
const EVENTS_MS = 100;

/**
 * Connects a client, however long the brokers take to come up: a processor that starts before its broker waits.
 * Each try takes a new client, for one whose first connection failed can't be used again. Once it is connected, what
 * the client complains of is reported, too.
 * @throws ClientError of kind `denied` where waiting would not help, or when `signal` aborts.
 */
export async function connect<C extends Client>(
  create: () => C,
  { bootstrapServers }: ClusterConfig,
  signal: AbortSignal,
  report: (error: Error) => void,
): Promise<{ client: C; metadata: Metadata }> {
  for (let refusals = 0; ;) {
    signal.throwIfAborted();
    let client: C;
    try {
      client = create();
    } catch (error) {
      throw classify(error, 'the Kafka client refuses its configuration');
    }
    let refusal: ClientError | null = null as ClientError | null;
    const watch = watchConnections(client, (refused) => {
      refusal = refused;
    });
    const events = setInterval(() => {
      if (client.isConnected()) client.poll?.();
    }, EVENTS_MS);
    const timeout = refusals === 0 ? TRY_MS : REFUSED_TRY_MS;
    try {
      // All topics: asking for a single one may create it, where the broker does that.
      const metadata = await promised<Metadata>((done) => {
        client.connect({ allTopics: true, timeout }, done);
      });
      client.on('event.error', (error) => {
        report(complaint(error));
      });
      return { client, metadata };
    } catch (error) {
      const failure = classify(error, 'the Kafka client');
      if (failure.kind === 'denied') throw failure;
      // The client could not even be made: a mechanism or a file that it does not know.
      if (failure.code === STATE) {
        throw new ClientError(`${failure.message}: see kafka in the configuration`, 'denied', STATE);
      }
      refusals = refusal ? refusals + 1 : 0;
      if (refusal && refusals === MAX_REFUSALS) throw refusal;
      const why = watch.reason === '' ? failure.message : watch.reason;
      const where = `no broker answers at ${bootstrapServers} (kafka.bootstrapServers)`;
      report(refusal ?? new ClientError(`${where}, trying on: ${why}`, 'retriable', failure.code));
    } finally {
      clearInterval(events);
    }
    await delay(PAUSE_MS, undefined, { signal });
  }
}
