/**
 * What Millrace's effects are measured against: the loop that one would write by hand on the same two clients. It
 * remembers each order's id in the database transaction that stores the order, a hundred in each, the partitions side by
 * side. It has no answer to rebalances, retries, poisoned records or signals, and it measures nothing.
 */
import { setTimeout as delay } from 'node:timers/promises';

import kafka from '@confluentinc/kafka-javascript';
import pg from 'pg';

const { BENCH_BROKER = '', BENCH_INPUT = '', BENCH_GROUP = '', BENCH_DATABASE = '' } = process.env;
const BATCH = 100;
const FETCHED = 1_000;
/** Records in hand above which no more are fetched: so many that each partition has some, since they come a partition at a time. */
const ENOUGH = 50_000;
const TIMEOUT_MS = 30_000;

const REMEMBER = {
  name: 'remember',
  text: `
    INSERT INTO processed_events (consumer, event_id, topic, partition, "offset")
    SELECT 'bench', event.id, event.topic, event.partition, event.place
    FROM unnest($1::text[], $2::text[], $3::int[], $4::bigint[]) AS event(id, topic, partition, place)
    ORDER BY event.id
    ON CONFLICT (consumer, event_id) DO NOTHING
    RETURNING event_id`,
};
const STORE = { name: 'store', text: 'INSERT INTO orders (id, customer, status) VALUES ($1, $2, $3)' };

const consumer = new kafka.KafkaConsumer(
  {
    'bootstrap.servers': BENCH_BROKER,
    'group.id': BENCH_GROUP,
    // Commits in the background what the loop has stored as done.
    'enable.auto.commit': true,
    'auto.commit.interval.ms': 100,
    'enable.auto.offset.store': false,
    'isolation.level': 'read_committed',
    'fetch.queue.backoff.ms': 10,
  },
  { 'auto.offset.reset': 'earliest' },
);

/** @typedef {{ records: kafka.Message[], busy: boolean, client: pg.Client }} Lane */

/** @type {Map<number, Lane>} */
const lanes = new Map();
let inHand = 0;

/** @param {number} partition */
async function laneOf(partition) {
  const known = lanes.get(partition);
  if (known) return known;
  const client = new pg.Client({ connectionString: BENCH_DATABASE, pipeline: true });
  await client.connect();
  const lane = { records: [], busy: false, client };
  lanes.set(partition, lane);
  return lane;
}

/** @param {Lane} lane */
async function work(lane) {
  lane.busy = true;
  while (lane.records.length > 0) {
    const batch = lane.records.splice(0, BATCH);
    await apply(lane.client, batch);
    inHand -= batch.length;
    const { topic, partition, offset } = batch[batch.length - 1] ?? { topic: '', partition: 0, offset: 0 };
    consumer.offsetsStore([{ topic, partition, offset: offset + 1 }]);
  }
  lane.busy = false;
}

/**
 * @param {pg.Client} client
 * @param {kafka.Message[]} batch
 */
async function apply(client, batch) {
  const ids = batch.map(({ key }) => String(key));
  const places = [
    batch.map(({ topic }) => topic),
    batch.map((each) => each.partition),
    batch.map((each) => each.offset),
  ];
  const [, remembered] = await Promise.all([
    client.query('BEGIN'),
    client.query({ ...REMEMBER, values: [ids, ...places] }),
  ]);
  const fresh = new Set(remembered.rows.map((row) => row.event_id));
  const stores = batch.flatMap(({ value }, index) => {
    if (!fresh.delete(ids[index])) return [];
    const { customerId, status } = JSON.parse(String(value));
    return client.query({ ...STORE, values: [ids[index], customerId, status] });
  });
  await Promise.all([...stores, client.query('COMMIT')]);
}

/**
 * @template T
 * @param {(done: (error: unknown, result: T) => void) => void} start
 * @returns {Promise<T>}
 */
const call = (start) =>
  new Promise((resolve, reject) => {
    start((error, result) => (error ? reject(error) : resolve(result)));
  });

await call((done) => consumer.connect({ timeout: TIMEOUT_MS }, done));
consumer.setDefaultConsumeTimeout(0);
consumer.subscribe([BENCH_INPUT]);
process.once('SIGTERM', () => process.exit(0));

for (;;) {
  const messages =
    inHand > ENOUGH
      ? []
      : await call((/** @type {(error: unknown, result: kafka.Message[]) => void} */ done) =>
          consumer.consume(FETCHED, done),
        );
  inHand += messages.length;
  for (const message of messages) (await laneOf(message.partition)).records.push(message);
  for (const lane of lanes.values()) if (!lane.busy) void work(lane);
  if (messages.length === 0) await delay(2);
}
