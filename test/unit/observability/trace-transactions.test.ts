import { SpanStatusCode, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { traceTransactions } from '../../../src/observability/trace-transactions.ts';

const exporter = new InMemorySpanExporter();

beforeAll(() => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
});
afterAll(() => trace.disable());

it('records a span for each transaction, from its begin to its end', () => {
  const observer = traceTransactions({ kind: 'pipeline', name: 'route' });
  observer.committed?.({
    records: new Map([['flights', 10]]),
    produced: new Map([['on-time', 7]]),
    filtered: 2,
    deadLettered: new Map([['TypeError', 1]]),
    timestamps: [],
    at: 1_000_500,
    durationMs: 250,
  });
  observer.aborted?.('lost', new Error('refused for hunter2'));

  const [committed, aborted] = exporter.getFinishedSpans();
  expect(committed).toMatchObject({
    name: 'route transaction',
    startTime: [1_000, 250_000_000],
    endTime: [1_000, 500_000_000],
    attributes: { 'millrace.pipeline': 'route', 'messaging.batch.message_count': 10, 'millrace.produced': 7 },
  });
  expect(aborted?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'lost' });
});
