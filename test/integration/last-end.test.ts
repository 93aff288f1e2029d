import { expect } from 'vitest';

import type { ClusterConfig } from '../../src/config/compiled.ts';
import { LastEnd } from '../../src/kafka/last-end.ts';
import { TransactionalProducer } from '../../src/kafka/producer.ts';
import { readSettled } from '../helpers/read-settled.ts';
import { it, type Rig } from '../helpers/rig.ts';
import { waitFor } from '../helpers/wait.ts';

/** Producers of one transactional id, one after the other; each repeats the end of the last transaction. */
async function startProducers(rig: Rig) {
  const topic = await rig.topic('out', 2);
  const partitions = [0, 1].map((partition) => ({ topic, partition }));
  const cluster: ClusterConfig = { bootstrapServers: rig.bootstrapServers, tls: null, sasl: null, properties: {} };
  const needs = {
    topics: [{ topic, operation: 'Write' }],
    groupId: rig.name,
    transactionalId: rig.name,
    transactionTimeoutMs: 60_000,
  } as const;
  const complaints: string[] = [];
  const report = ({ message }: Error) => void complaints.push(message);
  const clientId = rig.name;
  const next = async () => {
    const lastEnd = new LastEnd({ cluster, clientId, needs, report });
    const producer = new TransactionalProducer({
      ...{ cluster, clientId, needs, report, lastEnd },
      batchBytes: 262_144,
      properties: {},
      checksTopics: false,
    });
    rig.onEnd(() => producer.close());
    await waitFor('a producer to be opened', () =>
      producer.init(new AbortController().signal).then(
        () => true,
        () => false,
      ),
    );
    await producer.begin();
    /** To the first partition. */
    const write = (text: string) =>
      producer.produce(
        [{ output: 'out', topic, partition: 0, key: null, value: Buffer.from(text), timestamp: Date.now() }],
        0,
      );
    return { write, commit: () => producer.commit(), close: () => producer.close() };
  };
  /** How many records and markers there are in each partition. */
  const ends = async () => (await rig.cluster.ends(partitions)).map(({ highWatermark }) => highWatermark);
  const visible = async () => (await readSettled(rig, partitions)).map(({ value }) => value?.toString());
  return { next, ends, visible, complaints };
}

it('ends the last transaction once more, on all partitions that it may have written to', async ({ rig }) => {
  const { next, ends, visible, complaints } = await startProducers(rig);
  const first = await next();
  expect(await ends()).toEqual([0, 0]); // no transaction before it
  first.write('one');
  await first.commit();
  await first.close();
  await waitFor('a record and its marker', async () => (await ends()).join() === '2,0');

  const second = await next();
  await waitFor('a marker more in each', async () => (await ends()).join() === '3,1');
  second.write('two');
  await second.commit();
  expect(await visible()).toEqual(['one', 'two']);
  expect(complaints).toEqual([]);
});

it('leaves a transaction that still goes on to who opens the next producer', async ({ rig }) => {
  const { next, ends, visible } = await startProducers(rig);
  const first = await next();
  first.write('one');
  await waitFor('its record', async () => (await ends()).join() === '1,0');

  const second = await next();
  await waitFor('it to be aborted', async () => (await ends()).join() === '2,0');
  second.write('two');
  await second.commit();
  expect(await visible()).toEqual(['two']);
});
