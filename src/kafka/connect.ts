import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterConfig } from '../config/compiled.ts';
import { ClientError } from '../pipeline/ports.ts';
import { classify, complaint, STATE } from './errors.ts';
import { type Client, type Metadata, promised } from './native.ts';
import { watchConnections, withoutToken } from './refusals.ts';

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
 * @param maxTries How often it is tried, by who does not want to wait.
 * @throws ClientError of kind `denied` where waiting would not help, or `retriable` after the last try; an AbortError
 * when `signal` aborts.
 */
export async function connect<C extends Client>(
  create: () => C,
  { bootstrapServers }: ClusterConfig,
  signal: AbortSignal,
  report: (error: Error) => void,
  maxTries = Infinity,
): Promise<{ client: C; metadata: Metadata }> {
  let refusals = 0;
  for (let tries = 1; ; tries++) {
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
      const why = watch.reason === '' ? failure.message : watch.reason;
      const unreached = watch.isAboutToken
        ? withoutToken(why)
        : `no broker answers at ${bootstrapServers} (kafka.bootstrapServers): ${why}`;
      const found = refusal ?? new ClientError(unreached, 'retriable', failure.code);
      if (refusals === MAX_REFUSALS || tries === maxTries) throw found;
      report(found);
    } finally {
      clearInterval(events);
    }
    await delay(PAUSE_MS, undefined, { signal });
  }
}
