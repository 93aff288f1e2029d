import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type TextMapGetter,
} from '@opentelemetry/api';
import type { RecordHeaders } from '../transform/record-headers.ts';
import { toError } from '../transform/errors.ts';
import { type Adapter, type Applied, EffectFailure, type EffectRecord } from './adapter.ts';

const HEADERS: TextMapGetter<RecordHeaders> = {
  get: (headers, name) => headers.get(name)?.toString(),
  keys: (headers) => [...new Set(Array.from(headers, ([name]) => name))],
};

/**
 * An adapter with a span around each batch it applies, for whatever OpenTelemetry SDK the process has; without one this
 * does nothing. A single record's span continues the trace in the record's `traceparent` header; that of several is
 * linked to each of theirs. What a target's own instrumentation records comes below it.
 */
export function traced(adapter: Adapter, effect: string): Adapter {
  const tracer = trace.getTracer('millrace');

  async function apply(batch: readonly EffectRecord[]): Promise<readonly Applied[]> {
    const origins = batch.map(({ headers }) => propagation.extract(ROOT_CONTEXT, headers, HEADERS));
    const [parent] = origins.length === 1 ? origins : [];
    const links = parent ? [] : origins.flatMap((origin) => linkTo(origin));
    const span = tracer.startSpan(
      `${effect} apply`,
      {
        kind: SpanKind.CONSUMER,
        links,
        attributes: {
          'messaging.system': 'kafka',
          'messaging.operation.type': 'process',
          'messaging.batch.message_count': batch.length,
          'millrace.effect': effect,
        },
      },
      parent ?? ROOT_CONTEXT,
    );
    try {
      return await context.with(trace.setSpan(parent ?? ROOT_CONTEXT, span), () => adapter.apply(batch));
    } catch (thrown) {
      // Its message may quote the record, or a secret.
      const { name } = toError(thrown);
      span.setStatus({ code: SpanStatusCode.ERROR, message: thrown instanceof EffectFailure ? thrown.kind : name });
      throw thrown;
    } finally {
      span.end();
    }
  }

  return {
    ...(adapter.maxBatch === undefined ? {} : { maxBatch: adapter.maxBatch }),
    open: () => adapter.open(),
    apply,
    close: () => adapter.close(),
  };
}

function linkTo(origin: typeof ROOT_CONTEXT) {
  const spanContext = trace.getSpanContext(origin);
  return spanContext ? [{ context: spanContext }] : [];
}
