import { describe, expect, it, vi } from 'vitest';

import { combineObservers } from '../../../src/observability/combine-observers.ts';
import { PipelineFailed } from '../../../src/pipeline/errors.ts';
import type { RecycleReason } from '../../../src/pipeline/observer.ts';
import { TransactionWriter } from '../../../src/pipeline/writer.ts';
import { completed, output } from './bench.ts';
import { ScriptedConsumer } from './scripted-consumer.ts';
import { failure, ScriptedProducer } from './scripted-producer.ts';

const LIMITS = { maxRecords: 100, maxBytes: 1_000_000 };
const TIMEOUT_MS = 60_000;

/** An open writer, its producers in their order, and why each after the first was needed. */
async function openWriter() {
  const producers: ScriptedProducer[] = [];
  const recycled: RecycleReason[] = [];
  const writer = new TransactionWriter({
    createProducer: () => {
      const producer = new ScriptedProducer();
      producers.push(producer);
      return producer;
    },
    consumer: new ScriptedConsumer(),
    observer: combineObservers({ recycled: (reason) => void recycled.push(reason) }),
    transactionalId: 'a.p.i.0',
    transactionTimeoutMs: TIMEOUT_MS,
    provenance: null,
    signal: new AbortController().signal,
  });
  await writer.open();
  const [first] = producers;
  if (!first) throw new Error('no producer was made');
  return { writer, first, producers, recycled };
}

const BROKEN_STATE = -172;
const FATAL = -150;
const TOO_LARGE = 10;
const FENCED = -144;

describe('a transaction whose connection was in doubt', () => {
  it.each(['disconnected', 'slow-call'] as const)(
    'counts when it was committed, but the next begins with a new producer (%s)',
    async (doubt) => {
      const { writer, first, producers, recycled } = await openWriter();
      writer.write([completed(0, [output()])], LIMITS);
      first.doubts = doubt;
      expect(await writer.commit([])).toMatchObject({ kind: 'committed' });
      expect(first.calls).toEqual(['init', 'begin', 'sendOffsets', 'commit', 'close']);
      expect(producers[1]?.calls).toEqual(['init', 'begin']);
      expect(recycled).toEqual([doubt]);
    },
  );

  it('is followed by a new producer after an abort, too', async () => {
    const { writer, first, producers } = await openWriter();
    writer.write([completed(0, [output()])], LIMITS);
    first.doubts = 'disconnected';
    expect(await writer.abort('lost')).toMatchObject({ kind: 'aborted', reason: 'lost' });
    expect(first.calls).toEqual(['init', 'begin', 'abort', 'close']);
    expect(producers[1]?.calls).toEqual(['init', 'begin']);
  });

  it('is followed by the same producer where there was no doubt', async () => {
    const { writer, first, recycled } = await openWriter();
    writer.write([completed(0, [output()])], LIMITS);
    await writer.commit([]);
    expect(first.calls).toEqual(['init', 'begin', 'sendOffsets', 'commit', 'begin']);
    expect(recycled).toEqual([]);
  });
});

describe('a record that the client refuses to take', () => {
  it.each([BROKEN_STATE, FATAL])(
    'may only show what became of those before it (%i): that is what the abort is due to',
    async (code) => {
      const { writer, first } = await openWriter();
      first.failures.produce = failure('fatal', code);
      first.failures.sendOffsets = failure('rejected', TOO_LARGE, true);
      writer.write([completed(0, [output()])], LIMITS);
      expect(writer.isDoomed).toBe(true);
      const outcome = await writer.commit([]);
      expect(outcome).toMatchObject({ kind: 'aborted', reason: 'rejected', error: { code: TOO_LARGE } });
      expect(first.calls).not.toContain('commit');
    },
  );

  it('is the reason itself where the transaction is well', async () => {
    const { writer, first } = await openWriter();
    first.failures.produce = failure('rejected', TOO_LARGE, true);
    writer.write([completed(0, [output()])], LIMITS);
    expect(await writer.commit([])).toMatchObject({ kind: 'aborted', reason: 'rejected', error: { code: TOO_LARGE } });
    expect(first.calls).not.toContain('commit');
  });
});

describe('a fenced producer', () => {
  it('ends the pipeline, naming the transactional id, while the transaction can not have timed out', async () => {
    const { writer, first } = await openWriter();
    writer.write([completed(0, [output()])], LIMITS);
    first.failures.sendOffsets = failure('fenced', FENCED);
    const outcome = writer.commit([]);
    await expect(outcome).rejects.toThrow(PipelineFailed);
    await expect(outcome).rejects.toThrow('a.p.i.0');
  });

  it('is replaced when the transaction has timed out meanwhile', async () => {
    const { writer, first, recycled } = await openWriter();
    writer.write([completed(0, [output()])], LIMITS);
    first.failures.sendOffsets = failure('fenced', FENCED);
    const later = performance.now() + TIMEOUT_MS;
    vi.spyOn(performance, 'now').mockReturnValue(later);
    expect(await writer.commit([])).toMatchObject({ kind: 'aborted', reason: 'timeout' });
    vi.restoreAllMocks();
    expect(recycled).toEqual(['timed-out']);
  });
});
