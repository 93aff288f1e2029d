import { describe, expect, it, vi } from 'vitest';

import { combineObservers } from '../../../src/observability/combine-observers.ts';
import { Processor } from '../../../src/pipeline/processor.ts';
import { TransformLane } from '../../../src/pipeline/transform-lane.ts';
import { FLOW } from './bench.ts';
import { ScriptedConsumer } from './scripted-consumer.ts';
import { ScriptedProducer } from './scripted-producer.ts';

const PARTITION = { topic: 't', partition: 0 };

async function withProcessor(use: (consumer: ScriptedConsumer, processor: Processor) => Promise<void>): Promise<void> {
  const consumer = new ScriptedConsumer();
  consumer.offsets.set('t-0', 5);
  const processor = new Processor({
    config: FLOW,
    consumer,
    createProducer: () => new ScriptedProducer(),
    createLane: (start, context) => new TransformLane(start, context, () => []),
    deadLetter: () => null,
    observer: combineObservers(),
    instance: 'i',
  });
  const running = processor.run();
  await vi.waitUntil(() => processor.status().state === 'running', { interval: 1 });
  await use(consumer, processor);
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
