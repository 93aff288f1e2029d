import { expect } from 'vitest';

import { openConnection } from '../../src/kafka/wire/connection.ts';
import { askForTopics } from '../../src/kafka/wire/metadata.ts';
import { it } from '../helpers/rig.ts';
import { waitFor } from '../helpers/wait.ts';

it('a topic that is made anew has another id, and one that there is not is missing', async ({ rig }) => {
  const topic = await rig.topic('in', 3);
  const absent = `${rig.name}.absent`;
  const [host = '', port] = rig.bootstrapServers.split(/[:,]/);
  const cluster = { bootstrapServers: rig.bootstrapServers, tls: null, sasl: null, properties: {} };
  const address = { host, port: Number(port) };
  const { signal } = new AbortController();
  const connection = await openConnection(cluster, address, { clientId: rig.name, timeoutMs: 10_000, signal });
  rig.onEnd(() => connection.close());
  const { ask } = connection;

  const before = await askForTopics(ask, [topic, absent]);
  expect([...before.found]).toEqual([[topic, { id: expect.stringMatching(/^[\w-]{22}$/) as string, partitions: 3 }]]);
  expect(before.missing).toEqual([absent]);
  expect(before.brokers).toContainEqual({ host, port: Number(port) });
  expect(before.clusterId).not.toBe('');
  expect((await askForTopics(ask, [topic])).found).toEqual(before.found);

  await rig.cluster.deleteTopics([topic]);
  await waitFor('the topic to be gone', async () => (await askForTopics(ask, [topic])).missing.length === 1);
  await rig.cluster.createTopic(topic, 3);
  const after = await askForTopics(ask, [topic]);
  expect(after.missing).toEqual([]);
  expect(after.found.get(topic)?.id).not.toBe(before.found.get(topic)?.id);
});
