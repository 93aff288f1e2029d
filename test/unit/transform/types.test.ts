import { expectTypeOf, it } from 'vitest';
import {
  defineTransform,
  RecordHeaders,
  type Transform,
  type TransformContext,
  type TransformInput,
} from '../../../src/index.ts';
import type { AnyTransform } from '../../../src/transform/define-transform.ts';

interface Flight {
  origin: string;
  delay: number;
}
interface Routed {
  route: string;
}

// The compiler does the checking here (`tsc --noEmit`): a line below that stops compiling is the failure.

it('gives the record and its context their types', () => {
  defineTransform<Flight, Routed>((flight, context) => {
    expectTypeOf(flight.value).toEqualTypeOf<Flight>();
    expectTypeOf(flight.key).toEqualTypeOf<string | null>();
    expectTypeOf(flight.headers).toEqualTypeOf<RecordHeaders>();
    expectTypeOf(context).toEqualTypeOf<TransformContext>();
    expectTypeOf(context.source.offset).toEqualTypeOf<number>();
    return { value: { route: flight.value.origin } };
  });
});

it('takes nothing, one record, several, and promises of them', () => {
  defineTransform<Flight>(() => undefined);
  defineTransform<Flight>(() => null);
  defineTransform<Flight>(() => {});
  defineTransform<Flight>(async () => {});
  defineTransform<Flight>(({ value }) => (value.delay > 0 ? { value } : undefined));
  defineTransform<Flight>(({ value }) => [
    { value },
    { value, key: null, to: 'late', headers: { a: 'b' }, partition: 1 },
  ]);
  defineTransform<Flight>(async ({ value }) => ({ value, headers: [['a', Buffer.from('b')]] }));
  defineTransform<Flight, Routed>((flight) => {
    if (flight.value.delay < 0) return;
    return { key: flight.value.origin, value: { route: 'a' }, to: flight.value.delay > 15 ? 'delayed' : 'on-time' };
  });
});

it('lets every output be a tombstone and every key be left out', () => {
  defineTransform<Flight, Routed, Buffer, string>(() => ({ value: null }));
  defineTransform<Flight | null>((flight) => {
    expectTypeOf(flight.value).toEqualTypeOf<Flight | null>();
    return { value: flight.value };
  });
});

it('infers from an annotated function', () => {
  const transform = defineTransform((flight: TransformInput<Flight>) => ({ value: flight.value.delay }));
  expectTypeOf(transform).toEqualTypeOf<Transform<Flight, number>>();
});

it('can be handed on whatever its types are', () => {
  expectTypeOf<Transform<Flight, Routed, Buffer, string>>().toExtend<AnyTransform>();
});

it('refuses what can not be written', () => {
  // @ts-expect-error the value has the wrong type
  defineTransform<Flight, Routed>((flight) => ({ value: flight.value }));
  // @ts-expect-error the value is missing
  defineTransform<Flight>(() => ({ key: 'a' }));
  // @ts-expect-error the key has the wrong type
  defineTransform<Flight>(({ value }) => ({ key: 7, value }));
  // @ts-expect-error a header can not be a number
  defineTransform<Flight>(({ value }) => ({ value, headers: { seats: 7 } }));
  // @ts-expect-error false is not a record
  defineTransform<Flight>(({ value }) => value.delay > 0 && { value });
});
