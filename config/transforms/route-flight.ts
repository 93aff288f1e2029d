import { defineTransform, PoisonRecord } from 'millrace';

/** A flight as its source reports it: local time at the origin, minutes late on arrival (early: negative), miles. */
interface Flight {
  date: string;
  delay: number;
  distance: number;
  origin: string;
  destination: string;
}

/** The value of both outputs; the delayed ones are written with schemas/delayed-flight.avsc. */
interface RoutedFlight {
  origin: string;
  destination: string;
  departure: string;
  delayMinutes: number;
  distanceMiles: number;
}

/** US statistics count an arrival as late from this many minutes on. */
const LATE_FROM_MINUTES = 15;

export default defineTransform<unknown, RoutedFlight>((record) => {
  const flight = flightFrom(record.value);
  // An aircraft that turned back has served no route.
  if (flight.origin === flight.destination) return;
  return {
    key: `${flight.origin}-${flight.destination}`,
    value: {
      origin: flight.origin,
      destination: flight.destination,
      departure: flight.date.replaceAll('/', '-').replace(' ', 'T'),
      delayMinutes: flight.delay,
      distanceMiles: flight.distance,
    },
    to: flight.delay < LATE_FROM_MINUTES ? 'on-time' : 'delayed',
  };
});

/** No retry makes a flight of what is none: a record that fails here becomes a dead letter at once. */
function flightFrom(value: unknown): Flight {
  if (typeof value !== 'object' || value === null) throw new PoisonRecord('not a JSON object');
  const { date, delay, distance, origin, destination } = value as Record<keyof Flight, unknown>;
  return {
    date: text('date', date, /^\d{4}\/\d{2}\/\d{2} \d{2}:\d{2}$/),
    delay: integer('delay', delay),
    distance: integer('distance', distance),
    origin: text('origin', origin, /^[A-Z]{3}$/),
    destination: text('destination', destination, /^[A-Z]{3}$/),
  };
}

function text(field: string, value: unknown, form: RegExp): string {
  if (typeof value === 'string' && form.test(value)) return value;
  throw new PoisonRecord(`${field}: expected ${form.source}, found ${JSON.stringify(value)}`);
}

function integer(field: string, value: unknown): number {
  if (Number.isInteger(value)) return Number(value);
  throw new PoisonRecord(`${field}: expected an integer, found ${JSON.stringify(value)}`);
}
