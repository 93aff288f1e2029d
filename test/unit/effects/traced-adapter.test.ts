import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Adapter, EffectFailure } from '../../../src/effects/adapter.ts';
import { traced } from '../../../src/effects/traced-adapter.ts';
import { RecordHeaders } from '../../../src/transform/record-headers.ts';
import { effectRecord } from '../../helpers/effect-record.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const OTHER_TRACE = '1bf7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

const from = (traceId: string) =>
  effectRecord({ headers: RecordHeaders.from({ traceparent: `00-${traceId}-${SPAN}-01` }) });

const exporter = new InMemorySpanExporter();

beforeAll(() => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterAll(() => {
  trace.disable();
  context.disable();
  propagation.disable();
});
beforeEach(() => exporter.reset());

function adapter(apply: Adapter['apply']): Adapter {
  return traced({ open: async () => undefined, close: async () => undefined, apply }, 'store');
}

describe('a traced adapter', () => {
  it("continues the trace of a single record, and has the target's own spans below its own", async () => {
    let inside: string | undefined;
    const outcomes = await adapter(async () => {
      inside = trace.getActiveSpan()?.spanContext().traceId;
      return ['applied'];
    }).apply([from(TRACE)]);
    expect(outcomes).toEqual(['applied']);
    expect(inside).toBe(TRACE);
    const [span] = exporter.getFinishedSpans();
    expect(span).toMatchObject({ name: 'store apply', parentSpanContext: { traceId: TRACE, spanId: SPAN } });
  });

  it('links the span of several records to the trace of each that has one', async () => {
    const batch = [from(TRACE), effectRecord(), from(OTHER_TRACE)];
    await adapter(async () => ['applied', 'applied', 'applied']).apply(batch);
    const [span] = exporter.getFinishedSpans();
    expect(span?.links.map(({ context: { traceId } }) => traceId)).toEqual([TRACE, OTHER_TRACE]);
    expect(span?.attributes['messaging.batch.message_count']).toBe(3);
    expect(span?.parentSpanContext).toBeUndefined();
  });

  it('marks a failure with its kind, without the words of the target', async () => {
    const failing = adapter(async () => {
      throw new EffectFailure('transient', 'refused for hunter2');
    });
    await expect(failing.apply([effectRecord()])).rejects.toThrow('hunter2');
    const [span] = exporter.getFinishedSpans();
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'transient' });
    expect(JSON.stringify(span?.attributes)).not.toContain('hunter2');
  });
});
