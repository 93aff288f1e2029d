/**
 * The records of the benchmark: each a function of its number, so that what has to come out is known without asking
 * the loops that are measured.
 */

export interface Pair {
  readonly key: Buffer;
  readonly value: Buffer;
}

export type WorkloadName = 'identity' | 'json' | 'effects';

export interface Workload {
  readonly name: WorkloadName;
  /** Input record number `index`, and what has to be written for it, to a topic or a database: null where it is dropped. */
  record(index: number): { readonly input: Pair; readonly output: Pair | null };
}

const KEYS = 100_000;
const VALUE_BYTES = 200;

const WORDS = (
  'time year people way day thing woman life child world school state family student group country problem hand part ' +
  'place case week company system program question work government number night point home water room mother area ' +
  'money story fact month lot right study book eye job word business issue side kind head house service friend father ' +
  'power hour game line end member law car city community name president team minute idea body information back parent'
).split(' ');

const STATUSES = ['new', 'paid', 'packed', 'shipped', 'delivered', 'returned'];
const CURRENCIES = ['EUR', 'USD', 'GBP', 'JPY', 'CHF'];
const FIRST_ORDER_AT = Date.UTC(2026, 0, 1);

/** Copies values of 200 bytes under keys of 8. */
export const identity: Workload = {
  name: 'identity',
  record(index) {
    const random = randomFrom(index);
    const key = Buffer.from(`k${digits(random(KEYS), 7)}`, 'latin1');
    let text = '';
    while (text.length < VALUE_BYTES) text += `${pick(WORDS, random)} `;
    const pair = { key, value: Buffer.from(text.slice(0, VALUE_BYTES), 'latin1') };
    return { input: pair, output: pair };
  },
};

/** Drops cancelled orders, a tenth of them, sums up the others and puts them under their customers' keys. */
export const json: Workload = {
  name: 'json',
  record(index) {
    const random = randomFrom(index);
    const order = {
      orderId: `o${digits(index, 10)}`,
      customerId: `c${digits(random(KEYS), 7)}`,
      status: random(10) === 0 ? 'cancelled' : pick(STATUSES, random),
      currency: pick(CURRENCIES, random),
      items: Array.from({ length: 1 + random(3) }, () => ({
        sku: `SKU-${digits(random(100_000), 5)}`,
        qty: 1 + random(9),
        priceCents: 100 + random(99_900),
      })),
      createdAt: new Date(FIRST_ORDER_AT + index).toISOString(),
    };
    const input = { key: Buffer.from(order.orderId), value: Buffer.from(JSON.stringify(order)) };
    if (order.status === 'cancelled') return { input, output: null };
    const { orderId, customerId, currency, items, createdAt } = order;
    const totalCents = items.reduce((sum, { qty, priceCents }) => sum + qty * priceCents, 0);
    const total = { orderId, customerId, totalCents, currency, createdAt };
    return { input, output: { key: Buffer.from(customerId), value: Buffer.from(JSON.stringify(total)) } };
  },
};

/** Stores the orders, each a row: its id, and the rest as text. */
export const effects: Workload = {
  name: 'effects',
  record(index) {
    const { input } = json.record(index);
    const { customerId, status } = JSON.parse(String(input.value)) as { customerId: string; status: string };
    return { input, output: { key: input.key, value: Buffer.from(`${customerId} ${status}`) } };
  },
};

type Random = (below: number) => number;

/** Pseudo-random integers from 0 that depend on `seed` alone: a Weyl sequence, its steps mixed as in MurmurHash3. */
function randomFrom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % below;
  };
}

function pick(choices: readonly string[], random: Random): string {
  return choices[random(choices.length)] ?? '';
}

function digits(number: number, count: number): string {
  return String(number).padStart(count, '0');
}
