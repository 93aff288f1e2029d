import type { InputRecord, OutputRecord, RawHeaders } from '../pipeline/ports.ts';
import { withoutName } from './record-headers.ts';

/** The header that carries an event's identity from topic to topic: the key by which effects find repeats. */
export const EVENT_ID = 'event-id';

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
  #prefix = '';

  /** Sets the output's headers to `headers` with the id of output `index`, unless they have one that the transform chose itself. */
  stamp(
    output: OutputRecord,
    headers: RawHeaders | undefined,
    record: InputRecord,
    brought: Buffer | undefined,
    index: number,
  ): void {
    if (headers === undefined || headers.length === 0) {
      output.eventId = this.text(record, brought, index);
      return;
    }
    output.headers = headers;
    const own = headers === record.headers ? brought : broughtEventId(headers);
    if (own === undefined) {
      output.eventId = this.text(record, brought, index);
    } else if (index > 0 && brought !== undefined && own.equals(brought)) {
      output.headers = withoutName(headers, EVENT_ID);
      output.eventId = this.text(record, brought, index);
    }
  }

  text(record: InputRecord, brought: Buffer | undefined, index: number): string {
    if (brought !== undefined) {
      const id = brought.toString('utf8');
      return index === 0 ? id : `${id}/${index}`;
    }
    if (record.topic !== this.#topic || record.partition !== this.#partition) {
      this.#topic = record.topic;
      this.#partition = record.partition;
      this.#prefix = `${record.topic}/${record.partition}/`;
    }
    return `${this.#prefix}${record.offset}/${index}`;
  }
}
