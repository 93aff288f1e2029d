import { setTimeout as delay } from 'node:timers/promises';
import { type Client, type Metadata, promised } from './native.ts';
import { ClientError } from '../pipeline/ports.ts';
import { classify, STATE } from './errors.ts';

/** How long one try to reach a broker may take; short, so that a stop is answered soon. */
const TRY_MS = 3_000;
const PAUSE_MS = 500;

/**
 * Connects a client, however long the brokers take to come up: a processor that starts before its broker waits.
 * Each try takes a new client, for one whose first connection failed can't be used again.
 * @throws ClientError of kind `denied` where waiting would not help, or when `signal` aborts.
 */
export async function connect<C extends Client>(
  create: () => C,
  bootstrapServers: string,
  signal: AbortSignal,
  report: (error: Error) => void,
): Promise<{ client: C; metadata: Metadata }> {
  for (;;) {
    signal.throwIfAborted();
    let client: C;
    try {
      client = create();
    } catch (error) {
      throw classify(error, 'the Kafka client refuses its configuration');
    }
    let reason = '';
    client.on('event.log', (event) => {
      const { fac, message = '' } = event as { fac?: string; message?: string };
      // Without the names of the client's thread and broker handle in front.
      if (fac === 'FAIL') reason = message.replace(/^(\[[^\]]*\]: )?(\S+\/\w+: )?/, '');
    });
    try {
      // All topics: asking for a single one may create it, where the broker does that.
      const metadata = await promised<Metadata>((done) => {
        client.connect({ allTopics: true, timeout: TRY_MS }, done);
      });
      return { client, metadata };
    } catch (error) {
      const failure = classify(error, 'the Kafka client');
      if (failure.kind === 'denied') throw failure;
      // The client could not even be made: a mechanism or a file that it does not know.
      if (failure.code === STATE) {
        throw new ClientError(`${failure.message}: see the properties in the configuration`, 'denied', STATE);
      }
      const why = reason === '' ? failure.message : reason;
      const where = `no broker answers at ${bootstrapServers} (kafka.bootstrapServers)`;
      report(new ClientError(`${where}, trying on: ${why}`, 'retriable', failure.code));
    }
    await delay(PAUSE_MS, undefined, { signal });
  }
}
