import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import type { Cluster } from '../../test/helpers/cluster.ts';
import { startSeeder } from '../../test/helpers/seeder.ts';
import type { ReachableBroker } from './kept-broker.ts';
import { INPUT, readInput } from './topics.ts';

/** A flight as the data set has it. */
export interface Flight {
  date: string;
  delay: number;
  distance: number;
  origin: string;
  destination: string;
}

/** A record for the input topic. */
export interface FlightRecord {
  readonly key: Buffer;
  readonly value: Buffer;
  /** What is behind it, or that it is no flight. */
  readonly flight: Flight | 'malformed';
}

const SOURCE = new URL('../../node_modules/vega-datasets/data/flights-20k.json', import.meta.url);

/** About 2,000 records a second. */
const FEED = { records: 200, everyMs: 100 };

const MALFORMED = [
  '{}',
  'ORD-LGA, 20 minutes late',
  '{"date":"2001/01/05 09:15","delay":12,"dist',
  'null',
  '{"date":"2001/01/12 17:40","distance":733,"origin":"ORD","destination":"LGA"}',
  '{"date":"2001/02/02 06:30","delay":"late","distance":1846,"origin":"DFW","destination":"SEA"}',
  '{"date":"yesterday","delay":3,"distance":370,"origin":"LAX","destination":"PHX"}',
  '{"date":"2001/03/01 11:05","delay":-4,"distance":404,"origin":"ATL","destination":""}',
];

/** Aircraft that came back to where they started: flights, but of no route. */
const TURNED_BACK: readonly Flight[] = [
  { date: '2001/01/20 08:10', delay: 45, distance: 0, origin: 'DEN', destination: 'DEN' },
  { date: '2001/02/14 19:25', delay: 0, distance: 0, origin: 'BOS', destination: 'BOS' },
  { date: '2001/03/09 13:50', delay: 130, distance: 0, origin: 'SFO', destination: 'SFO' },
];

/**
 * All of the data set in its order, by origin so that a route's flights stay in order, and the others evenly spread
 * among them.
 */
export function flightRecords(): FlightRecord[] {
  const records = (JSON.parse(readFileSync(SOURCE, 'utf8')) as Flight[]).map(recordOf);
  const others = [...MALFORMED.map(malformedRecord), ...TURNED_BACK.map(recordOf)];
  const gap = Math.floor(records.length / others.length);
  others.forEach((other, index) => records.splice(index * (gap + 1) + 1, 0, other));
  return records;
}

/** Sends them slowly enough for a kill to come in the middle; resolves when the broker has acknowledged all, each written once. */
export async function feed(broker: ReachableBroker, records: readonly FlightRecord[]): Promise<void> {
  const { bootstrapServers } = broker;
  await broker.withCluster(async (cluster) =>
    send(bootstrapServers, await unwritten(cluster, bootstrapServers, records)),
  );
}

/** Those that an earlier try has not brought into the topic. No two of them are equal. */
async function unwritten(cluster: Cluster, bootstrapServers: string, records: readonly FlightRecord[]) {
  const written = new Set((await readInput(cluster, bootstrapServers)).map(({ value }) => String(value)));
  return records.filter(({ value }) => !written.has(String(value)));
}

async function send(bootstrapServers: string, records: readonly FlightRecord[]): Promise<void> {
  const seeder = await startSeeder(bootstrapServers, INPUT, { resends: false });
  try {
    for (let start = 0; start < records.length; start += FEED.records) {
      await seeder.send(records.slice(start, start + FEED.records));
      await delay(FEED.everyMs);
    }
  } finally {
    await seeder.close();
  }
}

function recordOf(flight: Flight): FlightRecord {
  return { key: Buffer.from(flight.origin), value: Buffer.from(JSON.stringify(flight)), flight };
}

function malformedRecord(text: string, index: number): FlightRecord {
  return { key: Buffer.from(`malformed-${index}`), value: Buffer.from(text), flight: 'malformed' };
}
