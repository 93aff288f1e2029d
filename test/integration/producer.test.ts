import { expect } from 'vitest';

import { TransactionalProducer } from '../../src/kafka/producer.ts';
import { withOwnBroker } from '../helpers/own-broker.ts';
import { waitFor } from '../helpers/wait.ts';

// The broker closes a connection on which nothing happens.
const it = withOwnBroker({ 'connections.max.idle.ms': '2000' });

it('a producer doubts a transaction in which a connection was lost, although all its calls succeed', async ({
  rig,
}) => {
  const topic = await rig.topic('out', 1);
  const producer = new TransactionalProducer({
    cluster: { bootstrapServers: rig.bootstrapServers, tls: null, sasl: null, properties: {} },
    clientId: rig.name,
    needs: { topics: [], groupId: rig.name, transactionalId: rig.name, transactionTimeoutMs: 60_000 },
    batchBytes: 262_144,
    properties: {},
    report: () => undefined,
    checksTopics: false,
  });
  rig.onEnd(() => producer.close());
  const { signal } = new AbortController();
  const write = () =>
    producer.produce([{ output: 'out', topic, key: null, value: Buffer.from('v'), timestamp: Date.now() }], 0);

  await producer.init(signal);
  await producer.begin();
  write();
  await producer.commit();
  expect(producer.doubt()).toBeNull();

  await producer.begin();
  write();
  await waitFor('the connection to be lost', () => producer.doubt() !== null);
  write();
  await producer.commit();
  expect(producer.doubt()).toBe('disconnected');
});
