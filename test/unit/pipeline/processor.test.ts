import { describe, expect, it, vi } from 'vitest';

import { combineObservers } from '../../../src/observability/combine-observers.ts';
import { Processor } from '../../../src/pipeline/processor.ts';
import { TransformLane } from '../../../src/pipeline/transform-lane.ts';
import { FLOW, record } from './bench.ts';
import { ScriptedConsumer } from './scripted-consumer.ts';
import { failure, ScriptedProducer } from './scripted-producer.ts';

const PARTITION = { topic: 't', partition: 0 };

async function withProcessor(
  use: (consumer: ScriptedConsumer, processor: Processor, producer: ScriptedProducer) => Promise<void>,
): Promise<void> {
  const consumer = new ScriptedConsumer();
  const producer = new ScriptedProducer();
  consumer.offsets.set('t-0', 5);
  const processor = new Processor({
    config: FLOW,
    consumer,
    createProducer: () => producer,
    createLane: (start, context) => new TransformLane(start, context, () => []),
    deadLetter: () => null,
    observer: combineObservers(),
    instance: 'i',
  });
  const running = processor.run();
  await vi.waitUntil(() => processor.status().state === 'running', { interval: 1 });
  await use(consumer, processor, producer);
  processor.stop();
  await running;
}

it('is not kept from giving up what is lost by an assignment that the brokers do not answer for', async () => {
  await withProcessor(async (consumer) => {
    consumer.isAnswering = false;
    const assigned = consumer.group.assigned([PARTITION]);
    await consumer.group.lost([PARTITION]);
    expect(await assigned).toEqual([]);
    consumer.isAnswering = true;
    expect(await consumer.group.assigned([PARTITION])).toEqual([{ ...PARTITION, offset: 5 }]);
  });
});

describe('where the client can not read on', () => {
  const OUT_OF_RANGE = failure('out-of-range', -140);

  /** A processor in the middle of a commit, which `release` lets end. */
  async function committing(consumer: ScriptedConsumer, producer: ScriptedProducer): Promise<() => void> {
    consumer.logs.set('t-0', { logStart: 0, lastStable: 9 });
    await consumer.group.assigned([PARTITION]);
    let release: () => void = () => undefined;
    producer.held = new Promise((resolve) => {
      release = resolve;
    });
    consumer.arriving = [record(5)];
    await vi.waitUntil(() => producer.calls.includes('sendOffsets'), { interval: 1 });
    return () => {
      release();
    };
  }

  it('a transaction that is aborted just then is still rewound', async () => {
    await withProcessor(async (consumer, _, producer) => {
      const release = await committing(consumer, producer);
      producer.failures.commit = failure('stale', 22);
      consumer.stopped.add('t-0');
      release();
      await vi.waitUntil(() => producer.calls.includes('abort'), { interval: 1 });
      consumer.complaint = OUT_OF_RANGE;
      await vi.waitUntil(() => consumer.stopped.size === 0, { interval: 1 });
      expect(consumer.seeks[0]).toEqual({ ...PARTITION, offset: 5 });
    });
  });

  it('what the group asks is answered before it is made to', async () => {
    await withProcessor(async (consumer, _, producer) => {
      const release = await committing(consumer, producer);
      const revoked = consumer.group.revoked([PARTITION]);
      consumer.complaint = OUT_OF_RANGE;
      await vi.waitUntil(() => consumer.complaint === null, { interval: 1 });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(consumer.seeks).toEqual([]);
      release();
      await revoked;
    });
  });

  it('a stop is in order', async () => {
    await withProcessor(async (consumer) => {
      await consumer.group.assigned([PARTITION]);
      consumer.complaint = OUT_OF_RANGE;
    });
  });
});

describe('readiness', () => {
  it('begins with the assignment, and ends when the partitions are lost', async () => {
    await withProcessor(async (consumer, processor) => {
      expect(processor.status()).toMatchObject({ ready: false, reasons: ['has not joined its consumer group yet'] });
      await consumer.group.assigned([PARTITION]);
      expect(processor.status()).toMatchObject({ ready: true, reasons: [] });
      await consumer.group.lost([PARTITION]);
      expect(processor.status()).toMatchObject({ ready: false, reasons: ['has not joined its consumer group yet'] });
      await consumer.group.assigned([PARTITION]);
      expect(processor.status().ready).toBe(true);
    });
  });

  it('ends when no broker is connected, and says which is not', async () => {
    await withProcessor(async (consumer, processor) => {
      consumer.missingBrokers = 'kafka:9092';
      const reasons = ['no broker is connected at kafka:9092'];
      expect(processor.status(), 'before it has joined').toMatchObject({ ready: false, reasons });
      await consumer.group.assigned([PARTITION]);
      expect(processor.status(), 'after that').toMatchObject({ ready: false, reasons });
    });
  });

  it('outlasts a revocation: the group shares out anew', async () => {
    await withProcessor(async (consumer, processor) => {
      await consumer.group.assigned([PARTITION]);
      await consumer.group.revoked([PARTITION]);
      expect(processor.status().ready).toBe(true);
    });
  });
});
