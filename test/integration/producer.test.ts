import { randomBytes } from 'node:crypto';

import { expect } from 'vitest';

import { LastEnd } from '../../src/kafka/last-end.ts';
import { TransactionalProducer } from '../../src/kafka/producer.ts';
import { ClientError, type OutputRecord } from '../../src/pipeline/ports.ts';
import { withOwnBroker } from '../helpers/own-broker.ts';
import type { Rig } from '../helpers/rig.ts';
import { waitFor } from '../helpers/wait.ts';

const it = withOwnBroker();
/** The broker closes a connection on which nothing happens. */
const itIdles = withOwnBroker({ 'connections.max.idle.ms': '2000' });
/** Of which its requests may take a sixth. */
const TRANSACTION_TIMEOUT_MS = 60_000;

/** In a transaction. */
async function start(rig: Rig, batchBytes: number): Promise<TransactionalProducer> {
  const common = {
    cluster: { bootstrapServers: rig.bootstrapServers, tls: null, sasl: null, properties: {} },
    clientId: rig.name,
    needs: { topics: [], groupId: rig.name, transactionalId: rig.name, transactionTimeoutMs: TRANSACTION_TIMEOUT_MS },
    report: () => undefined,
  };
  const lastEnd = new LastEnd(common);
  const producer = new TransactionalProducer({ ...common, lastEnd, batchBytes, properties: {}, checksTopics: false });
  rig.onEnd(() => producer.close());
  await waitFor('a producer to be opened', () =>
    producer.init(new AbortController().signal).then(
      () => true,
      () => false,
    ),
  );
  await producer.begin();
  return producer;
}

const record = (topic: string, bytes: number): OutputRecord => ({
  output: 'out',
  topic,
  key: null,
  value: randomBytes(bytes),
  timestamp: Date.now(),
});

itIdles(
  'a producer doubts a transaction in which a connection was lost, although all its calls succeed',
  async ({ rig }) => {
    const topic = await rig.topic('out', 1);
    const producer = await start(rig, 262_144);
    const write = () => producer.produce([record(topic, 1)], 0);
    write();
    await producer.commit();
    expect(producer.doubt()).toBeNull();

    await producer.begin();
    write();
    await waitFor('the connection to be lost', () => producer.doubt() !== null);
    write();
    await producer.commit();
    expect(producer.doubt()).toBe('disconnected');
  },
);

/** Commits as the loop does: calls that may be repeated are, and `tried` hears of each. Gives the error that ends it, or null. */
async function commit(producer: TransactionalProducer, tried: () => void = () => undefined): Promise<unknown> {
  for (;;) {
    try {
      await producer.commit();
      return null;
    } catch (error) {
      if (!(error instanceof ClientError) || error.kind !== 'retriable') return error;
      tried();
    }
  }
}

it('a producer tells within seconds of a record that the broker refuses, although others wait behind it', async ({
  rig,
}) => {
  const topic = await rig.topic('out', 1, { 'max.message.bytes': '20000' });
  const producer = await start(rig, 1_024);
  const records = Array.from({ length: 60 }, (_, n) => record(topic, n === 5 ? 40_000 : 3_000));
  expect(producer.produce(records, 0)).toBe(60);
  const startedAt = performance.now();
  expect(await commit(producer)).toMatchObject({ kind: 'rejected', isTooLarge: true, endsInAbort: true });
  expect(performance.now() - startedAt).toBeLessThan(TRANSACTION_TIMEOUT_MS / 12);
});

it('a producer doubts a commit that was slow, although none of the calls for it was', async ({ rig, broker }) => {
  const topic = await rig.topic('out', 1);
  const producer = await start(rig, 262_144);
  producer.produce([record(topic, 1)], 0);
  const frozenAt = performance.now();
  await broker.freeze();
  let tries = 0;
  const committed = commit(producer, () => tries++);
  // More than half of what a request may take, and less than all of it: the client repeats none and loses no connection.
  await waitFor(
    'the call to be repeated',
    () => performance.now() - frozenAt > TRANSACTION_TIMEOUT_MS / 11 && tries > 2,
  );
  await broker.thaw();
  expect(await committed).toBeNull();
  expect(producer.doubt()).toBe('slow-call');
});
