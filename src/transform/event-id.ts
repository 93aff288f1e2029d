import type { InputRecord, RawHeaders } from '../pipeline/ports.ts';
import { withoutName } from './record-headers.ts';

/** The header that carries an event's identity from topic to topic: the key by which effects find repeats. */
export const EVENT_ID = 'event-id';

const SLASH = '/'.charCodeAt(0);
const ZERO = '0'.charCodeAt(0);

/** The event id that a record brought along, or undefined. An empty one identifies nothing and does not count. */
export function broughtEventId(headers: RawHeaders | undefined): Buffer | undefined {
  if (headers === undefined) return undefined;
  // Not through RecordHeaders: this runs for every record, and a name that no object inherits needs no hasOwn.
  for (let index = headers.length - 1; index >= 0; index -= 1) {
    const id = headers[index]?.[EVENT_ID];
    if (id !== undefined) return id.length === 0 ? undefined : id;
  }
  return undefined;
}

/**
 * Gives outputs their `event-id`. Output `index` of a record gets `<topic>/<partition>/<offset>/<index>`. Where the record brought an id,
 * output 0 keeps it and the others get `<id>/<index>`: the ids of a fan-out differ, so that nobody takes it for a repeat.
 */
export class EventIds {
  #topic = '';
  #partition = -1;
  /** `<topic>/<partition>/` of the last record: records come partition by partition. */
  #prefix = Buffer.alloc(0);

  /** `headers` with the id of output `index`, unless they have one that the transform chose itself. */
  stamp(headers: RawHeaders | undefined, record: InputRecord, brought: Buffer | undefined, index: number): RawHeaders {
    if (headers === undefined || headers.length === 0) return [{ [EVENT_ID]: this.bytes(record, brought, index) }];
    const own = headers === record.headers ? brought : broughtEventId(headers);
    if (own === undefined) return [...headers, { [EVENT_ID]: this.bytes(record, brought, index) }];
    if (index === 0 || brought === undefined || !own.equals(brought)) return headers;
    return [...withoutName(headers, EVENT_ID), { [EVENT_ID]: this.bytes(record, brought, index) }];
  }

  text(record: InputRecord, brought: Buffer | undefined, index: number): string {
    return this.bytes(record, brought, index).toString('utf8');
  }

  bytes(record: InputRecord, brought: Buffer | undefined, index: number): Buffer {
    if (brought === undefined) return this.#fromCoordinates(record, index);
    return index === 0 ? brought : Buffer.concat([brought, Buffer.from(`/${index}`, 'latin1')]);
  }

  /** Written digit by digit: half the time of building the text first, and it is done for every record. */
  #fromCoordinates({ topic, partition, offset }: InputRecord, index: number): Buffer {
    if (topic !== this.#topic || partition !== this.#partition) {
      this.#topic = topic;
      this.#partition = partition;
      this.#prefix = Buffer.from(`${topic}/${partition}/`, 'latin1');
    }
    const prefix = this.#prefix;
    const offsetEnd = prefix.length + digitsOf(offset);
    const id = Buffer.allocUnsafe(offsetEnd + 1 + digitsOf(index));
    // For so few bytes a loop beats copy().
    for (let at = 0; at < prefix.length; at += 1) id[at] = prefix[at] ?? 0;
    writeDigits(id, offset, offsetEnd);
    id[offsetEnd] = SLASH;
    writeDigits(id, index, id.length);
    return id;
  }
}

function digitsOf(number: number): number {
  let digits = 1;
  for (let rest = number; rest >= 10; rest = Math.floor(rest / 10)) digits += 1;
  return digits;
}

/** Writes a non-negative integer so that it ends before `end`. */
function writeDigits(into: Buffer, number: number, end: number): void {
  let at = end;
  let rest = number;
  do {
    const left = Math.floor(rest / 10);
    at -= 1;
    into[at] = ZERO + (rest - left * 10);
    rest = left;
  } while (rest > 0);
}
