import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Tally } from '../../../bench/tally.ts';
import { effects, identity, json } from '../../../bench/workloads.ts';
import { testPipeline } from '../../../src/testing.ts';

const product = join(import.meta.dirname, '../../../bench/product');
const env = { BENCH_BROKER: 'localhost:9092', BENCH_GROUP: 'group', BENCH_INPUT: 'in', BENCH_OUTPUT: 'out' };
const indexes = Array.from({ length: 2_000 }, (_, index) => index);

describe('the records of the benchmark', () => {
  it('are the same each time', () => {
    for (const workload of [identity, json, effects]) expect(workload.record(77)).toEqual(workload.record(77));
  });

  it('are texts of 200 bytes under keys of 8, all different, for the copy', () => {
    const records = indexes.map((index) => identity.record(index).input);
    expect(new Set(records.map(({ key }) => key.length))).toEqual(new Set([8]));
    expect(new Set(records.map(({ value }) => value.length))).toEqual(new Set([200]));
    expect(new Set(records.map(({ value }) => String(value))).size).toBe(indexes.length);
  });

  it('are orders, a tenth of them cancelled, for the JSON transform', () => {
    const records = indexes.map((index) => json.record(index));
    const dropped = records.filter(({ output }) => output === null);
    expect(dropped.length).toBeGreaterThan(150);
    expect(dropped.length).toBeLessThan(250);
    for (const { input } of dropped) expect(JSON.parse(String(input.value))).toMatchObject({ status: 'cancelled' });
  });

  it('are orders for the effects, each with an id of its own and none dropped', () => {
    const records = indexes.map((index) => effects.record(index));
    expect(new Set(records.map(({ input }) => String(input.key))).size).toBe(indexes.length);
    for (const { input, output } of records) {
      const { orderId, customerId, status } = JSON.parse(String(input.value)) as Record<string, string>;
      expect(String(output?.key)).toBe(orderId);
      expect(String(output?.value)).toBe(`${customerId} ${status}`);
    }
  });

  it('give by the copy what they should', async () => {
    const pipeline = await testPipeline(join(product, 'identity.yaml'), 'identity', { env });
    const pairs = indexes.slice(0, 50).map((index) => identity.record(index));
    const { outputs } = await pipeline.run(pairs.map(({ input }) => input));
    expect(outputs['copies']).toMatchObject(pairs.map(({ output }) => output));
  });

  it('give by the JSON transform what they should, to the byte', async () => {
    const pipeline = await testPipeline(join(product, 'json.yaml'), 'json', { env });
    const pairs = indexes.slice(0, 50).map((index) => json.record(index));
    const { outputs } = await pipeline.run(pairs.map(({ input }) => input));
    const written = outputs['totals']?.map(({ key, value }) => [key, JSON.stringify(value)]);
    const expected = pairs.flatMap(({ output }) => (output ? [[String(output.key), String(output.value)]] : []));
    expect(expected.length).toBeGreaterThan(30);
    expect(written).toEqual(expected);
  });
});

describe('a tally', () => {
  const tallyOf = (...pairs: [string, string][]) => {
    const tally = new Tally();
    for (const [key, value] of pairs) tally.add(Buffer.from(key), Buffer.from(value));
    return tally;
  };
  const expected = tallyOf(['a', '1'], ['b', '2']);

  it('finds the same records in another order right', () => {
    expect(expected.differenceTo(tallyOf(['b', '2'], ['a', '1']))).toBeNull();
  });

  it('tells what is wrong', () => {
    expect(expected.differenceTo(tallyOf(['a', '1']))).toBe('1 records instead of 2');
    expect(expected.differenceTo(tallyOf(['a', '2'], ['b', '1']))).toContain('not the right contents');
    expect(expected.differenceTo(tallyOf(['a', '1'], ['b', '3']))).toContain('not the right contents');
  });
});
