import type { EventIdConfig } from '../config/compiled.ts';
import type { InputRecord } from '../pipeline/ports.ts';
import { RecordError } from '../transform/errors.ts';
import { lastValue } from '../transform/record-headers.ts';
import { descend, parsePointer } from './path.ts';

/** A record without an id: a repeat of it could not be told from a new one. */
export class MissingEventId extends RecordError {
  override readonly name = 'MissingEventId';
}

/** A record's event id. Throws a {@link MissingEventId} where there is none, or an empty one. */
export type EventIdOf = (record: InputRecord, value: unknown) => string;

export function eventIdFrom(config: EventIdConfig): EventIdOf {
  switch (config.from) {
    case 'header': {
      const { header } = config;
      return ({ headers }) => checked(headers && lastValue(headers, header)?.toString('utf8'), `header ${header}`);
    }
    case 'key':
      return ({ key }) => checked(key?.toString('utf8'), 'key');
    case 'value': {
      const path = parsePointer(config.pointer);
      return (_record, value) => checked(scalarText(descend(value, path)), `value at ${config.pointer}`);
    }
    case 'coordinates':
      return ({ topic, partition, offset }) => `${topic}/${partition}/${offset}`;
  }
}

function checked(id: string | undefined, place: string): string {
  if (id !== undefined && id !== '') return id;
  const found = id === undefined ? 'none' : 'an empty one';
  throw new MissingEventId(`the record has no event id: ${found} was found in its ${place} (see eventId)`);
}

/** Ids are text or numbers: what else there may be has no one way to be written. */
function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value))) return String(value);
  return undefined;
}
