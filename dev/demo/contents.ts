import { readFileSync } from 'node:fs';

import avro from 'avsc';

import type { LogRecord } from '../../src/prove/log-record.ts';
import type { FlightRecord } from './flights.ts';
import { OUTPUTS } from './topics.ts';

export type Output = keyof typeof OUTPUTS;

/** Each output's records in order, each as `<key> <value as text>`: a form in which they can be compared. */
export type Contents = Readonly<Record<Output, readonly string[]>>;

const DELAYED_SCHEMA = new URL('../../config/schemas/delayed-flight.avsc', import.meta.url);

/** What has to be in the outputs, from the source data alone: nothing here is shared with the transform. */
export function expectedContents(records: readonly FlightRecord[]): Contents {
  const contents: Record<Output, string[]> = { 'on-time': [], delayed: [], 'dead letters': [] };
  for (const { key, value, flight } of records) {
    if (flight === 'malformed') contents['dead letters'].push(rawLine(key, value));
    else if (flight.origin !== flight.destination) {
      const { date, delay, distance, origin, destination } = flight;
      const departure = `${date.slice(0, 4)}-${date.slice(5, 7)}-${date.slice(8, 10)}T${date.slice(11)}`;
      const line = valueLine(Buffer.from(`${origin}-${destination}`), {
        origin,
        destination,
        departure,
        delayMinutes: delay,
        distanceMiles: distance,
      });
      contents[delay >= 15 ? 'delayed' : 'on-time'].push(line);
    }
  }
  return contents;
}

/** What is in the outputs. */
export function contentsOf(records: readonly LogRecord[]): Contents {
  const schema = avro.Type.forSchema(JSON.parse(readFileSync(DELAYED_SCHEMA, 'utf8')) as avro.Schema);
  const of = (output: Output, line: (key: Buffer | null, value: Buffer) => string) =>
    records
      .filter(({ topic }) => topic === OUTPUTS[output])
      .map(({ key, value }) => (value === null ? `${key?.toString()} (no value)` : line(key, value)));
  return {
    'on-time': of('on-time', (key, value) => valueLine(key, JSON.parse(value.toString()))),
    delayed: of('delayed', (key, value) => valueLine(key, schema.fromBuffer(value))),
    'dead letters': of('dead letters', rawLine),
  };
}

/** The same for equal values, whatever the order of their fields. */
function valueLine(key: Buffer | null, value: unknown): string {
  const fields = Object.entries(value as object).sort(([one], [other]) => (one < other ? -1 : 1));
  return `${key?.toString()} ${JSON.stringify(Object.fromEntries(fields))}`;
}

function rawLine(key: Buffer | null, value: Buffer): string {
  return `${key?.toString()} ${value.toString()}`;
}
