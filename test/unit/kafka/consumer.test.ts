import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { ConsumerEvents, ConsumerOptions } from '../../../src/kafka/consumer-client.ts';
import { KafkaInput } from '../../../src/kafka/consumer.ts';
import type { ConsumerClient } from '../../../src/kafka/native.ts';
import type { RebalanceListener } from '../../../src/pipeline/ports.ts';

const ASSIGN = -175;
const REVOKE = -174;
const PARTITION = { topic: 't', partition: 0 };

/** What the clients were told, in order, each with its number. */
const told: string[] = [];
let protocol: 'EAGER' | 'COOPERATIVE' = 'EAGER';
let clients: { client: ConsumerClient; events: ConsumerEvents }[] = [];

vi.mock('../../../src/kafka/connect.ts', () => ({
  connect: (create: () => ConsumerClient) => Promise.resolve({ client: create(), metadata: { brokers: [] } }),
}));
vi.mock('../../../src/kafka/consumer-client.ts', () => ({
  createConsumerClient: (_: unknown, events: ConsumerEvents) => {
    const number = clients.length;
    const tell =
      (what: string) =>
      (partitions: readonly unknown[] = []) => {
        told.push(`${number} ${what} ${partitions.length}`);
      };
    const client = {
      assign: tell('assign'),
      assignmentLost: () => false,
      disconnect: (done: () => void) => {
        tell('disconnect')();
        done();
      },
      incrementalAssign: tell('incrementalAssign'),
      incrementalUnassign: tell('incrementalUnassign'),
      on: () => undefined,
      rebalanceProtocol: () => protocol,
      subscribe: () => undefined,
      unassign: tell('unassign'),
    };
    clients.push({ client: client as unknown as ConsumerClient, events });
    return client;
  },
}));

beforeEach(() => {
  told.length = 0;
  clients = [];
});

const options = { cluster: { bootstrapServers: 'kafka:9092' }, topics: ['t'], report: () => undefined };

/** An input whose listener answers nothing by itself before it is told that all is lost. */
async function started() {
  let answer: () => void = () => undefined;
  const open = <T>(value: T) =>
    new Promise<T>((resolve) => {
      answer = () => {
        resolve(value);
      };
    });
  const listener: RebalanceListener = {
    assigned: () => open([]),
    revoked: () => open(undefined),
    lost: async () => {
      answer();
    },
  };
  const input = new KafkaInput(options as unknown as ConsumerOptions);
  await input.start(listener, new AbortController().signal);
  const [first] = clients;
  if (!first) throw new Error('no client');
  const rebalance = async (code: number) => {
    first.events.rebalance(first.client, code, [PARTITION]);
    await Promise.resolve();
  };
  return {
    first,
    input,
    rebalance,
    answer: () => {
      answer();
    },
  };
}

describe.each([
  ['EAGER', ASSIGN, 'assign 0'],
  ['EAGER', REVOKE, 'unassign 0'],
  ['COOPERATIVE', ASSIGN, 'incrementalAssign 0'],
  ['COOPERATIVE', REVOKE, 'incrementalUnassign 1'],
] as const)('a client that is given up in the middle of a rebalance: %s, %d', (inUse, code, expected) => {
  it('gets its answer before it is disconnected: it would never end without', async () => {
    protocol = inUse;
    const { first, input, rebalance } = await started();
    await rebalance(code);
    for (let report = 0; report < 30; report++) {
      first.events.statistics(first.client, { connected: false, partitions: new Map() });
    }
    await vi.waitUntil(() => clients.length === 2, { interval: 1 });
    expect(told).toEqual([`0 ${expected}`, '0 disconnect 0']);
    await input.close();
  });
});

it('does not assign again what the group has asked for: that would be the answer', async () => {
  protocol = 'COOPERATIVE';
  const { answer, input, rebalance } = await started();
  await rebalance(ASSIGN);
  const restart = () => {
    input.restart([{ ...PARTITION, offset: 7 }]);
  };
  expect(restart).toThrow('anew');
  expect(told).toEqual([]);
  answer();
  await vi.waitUntil(() => told.length > 0, { interval: 1 });
  restart();
  expect(told).toEqual(['0 incrementalAssign 0', '0 incrementalUnassign 1', '0 incrementalAssign 1']);
  await input.close();
});
