import type { InputRecord } from '../pipeline/ports.ts';
import type { TransformContext, TransformInput, TransformLogger } from './define-transform.ts';
import type { EventIds } from './event-id.ts';
import { RecordHeaders } from './record-headers.ts';

/**
 * One of these and one `SourceContext` are made for every record, so what most transforms never ask for is a getter. Private fields
 * keep the raw record out of what a transform prints, or copies with `{ ...record }`.
 */
export class SourceRecord implements TransformInput<unknown, unknown> {
  readonly key: unknown;
  readonly value: unknown;
  readonly timestamp: number;
  readonly #record: InputRecord;

  constructor(record: InputRecord, key: unknown, value: unknown) {
    this.key = key;
    this.value = value;
    this.timestamp = record.timestamp;
    this.#record = record;
  }

  get headers(): RecordHeaders {
    return RecordHeaders.fromRaw(this.#record.headers);
  }
}

export class SourceContext implements TransformContext {
  readonly logger: TransformLogger;
  readonly attempt: number;
  readonly #record: InputRecord;
  readonly #brought: Buffer | undefined;
  readonly #ids: EventIds;

  constructor(
    logger: TransformLogger,
    attempt: number,
    record: InputRecord,
    brought: Buffer | undefined,
    ids: EventIds,
  ) {
    this.logger = logger;
    this.attempt = attempt;
    this.#record = record;
    this.#brought = brought;
    this.#ids = ids;
  }

  get source(): TransformContext['source'] {
    const { topic, partition, offset } = this.#record;
    return { topic, partition, offset };
  }

  get timestamp(): number {
    return this.#record.timestamp;
  }

  /** A getter, so that `({ eventId }) => …` works. */
  get eventId(): (index: number) => string {
    return (index) => {
      if (!Number.isSafeInteger(index) || index < 0)
        throw new RangeError(`eventId(index): an integer from 0, found ${index}`);
      return this.#ids.text(this.#record, this.#brought, index);
    };
  }
}
