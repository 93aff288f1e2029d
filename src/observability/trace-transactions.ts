import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Observer } from '../pipeline/observer.ts';

/** A span for each transaction, for whatever OpenTelemetry SDK the process has; without one this does nothing. */
export function traceTransactions({ kind, name }: { readonly kind: string; readonly name: string }): Partial<Observer> {
  const tracer = trace.getTracer('millrace');
  const attributes = { 'messaging.system': 'kafka', [`millrace.${kind}`]: name };
  const sum = (counts: ReadonlyMap<string, number>): number =>
    [...counts.values()].reduce((total, count) => total + count, 0);

  return {
    committed({ records, produced, filtered, deadLettered, at, durationMs }) {
      const span = tracer.startSpan(`${name} transaction`, {
        kind: SpanKind.PRODUCER,
        startTime: at - durationMs,
        attributes: {
          ...attributes,
          'messaging.batch.message_count': sum(records),
          'millrace.produced': sum(produced),
          'millrace.filtered': filtered,
          'millrace.dead_lettered': sum(deadLettered),
        },
      });
      span.end(at);
    },
    // What is known of it is that it ended, and why.
    aborted(reason) {
      const span = tracer.startSpan(`${name} transaction`, { kind: SpanKind.PRODUCER, attributes });
      span.setAttribute('millrace.aborted', reason);
      span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
      span.end();
    },
  };
}
