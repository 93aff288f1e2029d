import type { InputRecord, OutputRecord, RecordTransform, Serde } from '../pipeline/ports.ts';
import type { TransformFunction, TransformLogger } from './define-transform.ts';
import { OutputEncoder, type OutputPlan } from './encode-outputs.ts';
import { DecodeError, toError } from './errors.ts';
import { broughtEventId, EventIds } from './event-id.ts';
import { SourceContext, SourceRecord } from './source-record.ts';

export interface TransformPlan {
  readonly transform: TransformFunction;
  readonly input: { readonly key: Serde; readonly value: Serde };
  readonly outputs: readonly OutputPlan[];
  readonly logger: TransformLogger;
}

/** Decode, the user's function and encode as one function. It makes no promise where the user's function makes none. */
export function compileTransform({ transform, input, outputs, logger }: TransformPlan): RecordTransform {
  const ids = new EventIds();
  const encoder = new OutputEncoder(outputs, input.key, ids);

  return (record, attempt) => {
    const source = new SourceRecord(
      record,
      decodePart('key', input.key, record),
      decodePart('value', input.value, record),
    );
    const brought = broughtEventId(record.headers);
    const context = new SourceContext(logger, attempt, record, brought, ids);
    let result: unknown;
    try {
      result = transform(source, context);
    } catch (thrown) {
      throw toError(thrown);
    }
    if (!isThenable(result)) return encoder.encode(result, source, record, brought);
    return encodeLater(encoder, result, source, record, brought);
  };
}

/** Apart from the rest: a function that closures are made in allocates for them at every call. */
function encodeLater(
  encoder: OutputEncoder,
  result: PromiseLike<unknown>,
  source: SourceRecord,
  record: InputRecord,
  brought: Buffer | undefined,
): Promise<readonly OutputRecord[]> {
  return Promise.resolve(result).then(
    (settled) => encoder.encode(settled, source, record, brought),
    (thrown: unknown) => {
      throw toError(thrown);
    },
  );
}

function decodePart(part: 'key' | 'value', serde: Serde, record: InputRecord): unknown {
  try {
    return serde.decode(record[part]);
  } catch (thrown) {
    const cause = toError(thrown);
    throw new DecodeError(`the record's ${part}: ${cause.message}`, { cause });
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
