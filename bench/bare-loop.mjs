/**
 * What Millrace is measured against: the loop that one would write by hand on the same client, in plain JavaScript,
 * with the client settings that matter and nothing else. Exactly once as long as nothing fails: it has no answer to
 * rebalances, aborts, retries, poisoned records, unknown commits or signals, and it measures nothing.
 */
import { setTimeout as delay } from 'node:timers/promises';

import kafka from '@confluentinc/kafka-javascript';

const { BENCH_BROKER = '', BENCH_INPUT = '', BENCH_OUTPUT = '', BENCH_GROUP = '', BENCH_WORKLOAD = '' } = process.env;
const BATCH = 1_000;
const COMMIT_MS = 100;
const TIMEOUT_MS = 30_000;
const QUEUE_FULL = kafka.CODES.ERRORS.ERR__QUEUE_FULL;

const consumer = new kafka.KafkaConsumer(
  {
    'bootstrap.servers': BENCH_BROKER,
    'group.id': BENCH_GROUP,
    'enable.auto.commit': false,
    'isolation.level': 'read_committed',
    // Where the client stops fetching because enough is queued, it looks again after this, by default a second.
    'fetch.queue.backoff.ms': 10,
    'queued.min.messages': 100_000,
    'fetch.message.max.bytes': 4 << 20,
  },
  { 'auto.offset.reset': 'earliest' },
);
const producer = new kafka.Producer(
  {
    'bootstrap.servers': BENCH_BROKER,
    'transactional.id': BENCH_GROUP,
    'compression.type': 'lz4',
    'linger.ms': 5,
    'queue.buffering.max.messages': 500_000,
    // Each next transaction is told to come again while the last one's markers are written.
    'retry.backoff.ms': 20,
    dr_cb: false,
  },
  { partitioner: 'murmur2_random' },
);

/**
 * @template T
 * @param {(done: (error: unknown, result: T) => void) => void} start
 * @returns {Promise<T>}
 */
const call = (start) =>
  new Promise((resolve, reject) => {
    start((error, result) => (error ? reject(error) : resolve(result)));
  });

/** @param {kafka.Message} message */
function copied({ key, value }) {
  return { key, value };
}

/** @param {kafka.Message} message */
function totalled({ value }) {
  const order = JSON.parse(String(value));
  if (order.status === 'cancelled') return null;
  const { orderId, customerId, currency, items, createdAt } = order;
  let totalCents = 0;
  for (const { qty, priceCents } of items) totalCents += qty * priceCents;
  const total = { orderId, customerId, totalCents, currency, createdAt };
  return { key: customerId, value: Buffer.from(JSON.stringify(total)) };
}

const transform = BENCH_WORKLOAD === 'json' ? totalled : copied;

/**
 * False where the client's queue is full.
 *
 * @param {{ key: kafka.MessageKey, value: kafka.MessageValue }} output
 * @param {number | undefined} timestamp
 */
function enqueued({ key, value }, timestamp) {
  try {
    producer.produce(BENCH_OUTPUT, null, value, key, timestamp);
    return true;
  } catch (error) {
    if (/** @type {{ code?: number }} */ (error).code !== QUEUE_FULL) throw error;
    return false;
  }
}

await call((done) => producer.connect({ timeout: TIMEOUT_MS }, done));
await call((done) => producer.initTransactions(TIMEOUT_MS, (error) => done(error, null)));
await call((done) => consumer.connect({ timeout: TIMEOUT_MS }, done));
consumer.setDefaultConsumeTimeout(0); // it is waited for each message: a steady trickle would hold the call
consumer.subscribe([BENCH_INPUT]);
process.once('SIGTERM', () => process.exit(0));

/** @type {Map<number, number>} */
const offsets = new Map();
let commitAt = Infinity;
for (;;) {
  const messages = await call((/** @type {(error: unknown, result: kafka.Message[]) => void} */ done) =>
    consumer.consume(BATCH, done),
  );
  if (messages.length === 0) await delay(2);
  else if (offsets.size === 0) {
    await call((done) => producer.beginTransaction((error) => done(error, null)));
    commitAt = performance.now() + COMMIT_MS;
  }
  for (const message of messages) {
    offsets.set(message.partition, message.offset + 1);
    const output = transform(message);
    if (output === null) continue;
    while (!enqueued(output, message.timestamp)) {
      producer.poll();
      await delay(1);
    }
  }
  producer.poll(); // what is delivered counts against the queue until then
  if (performance.now() < commitAt) continue;
  const moved = Array.from(offsets, ([partition, offset]) => ({ topic: BENCH_INPUT, partition, offset }));
  await call((done) => producer.sendOffsetsToTransaction(moved, consumer, TIMEOUT_MS, (error) => done(error, null)));
  await call((done) => producer.commitTransaction(TIMEOUT_MS, (error) => done(error, null)));
  offsets.clear();
  commitAt = Infinity;
}
