import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { TopicWatch } from '../../../src/kafka/topic-watch.ts';
import type { Address } from '../../../src/kafka/wire/connection.ts';
import type { AskedTopics } from '../../../src/kafka/wire/metadata.ts';
import type { ClientError } from '../../../src/pipeline/ports.ts';

const OLD = 'AAAAAAAAAAAAAAAAAAAAAA';
const NEW = 'BBBBBBBBBBBBBBBBBBBBBB';
/** As it stands with committed offsets: the SHA-256 of `c` and of `other` begin so. */
const IN_C = 'mr:Ln0s';
const IN_OTHER = 'mr:2SmK';
const of = (cluster: string, topic: string, partitions = 3): string => `${cluster}:${topic.slice(0, 9)}:${partitions}`;

/** What the brokers answer, and whom they were asked by. */
let answer: () => Promise<AskedTopics>;
let asked: string[];
let open: number;

vi.mock('../../../src/kafka/wire/connection.ts', () => ({
  openConnection: async (_: unknown, { host }: Address) => {
    open++;
    return {
      ask: host,
      close: () => {
        open--;
      },
    };
  },
}));
vi.mock('../../../src/kafka/wire/metadata.ts', () => ({
  askForTopics: async (host: string) => {
    asked.push(host);
    return answer();
  },
}));

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  open = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

const BROKERS = ['one', 'two'].map((host) => ({ host, port: 9092 }));

const has =
  (id: string, partitions = 3) =>
  () =>
    Promise.resolve(topics({ found: new Map([['t', { id, partitions }]]) }));
const lacks = () => Promise.resolve(topics({ missing: ['t'] }));
const fails = () => Promise.reject(new Error('no answer'));
const topics = (told: Partial<AskedTopics>): AskedTopics => ({
  clusterId: 'c',
  brokers: BROKERS,
  found: new Map(),
  missing: [],
  ...told,
});

async function watch(first: () => Promise<AskedTopics>, sasl: object | null = null) {
  answer = first;
  const lost: string[] = [];
  const reports: string[] = [];
  const cluster = { bootstrapServers: 'one:9092', tls: null, sasl, properties: {} } as never;
  const watching = new TopicWatch({
    cluster,
    clientId: 'a.p.i',
    topics: ['t'],
    lost: ({ kind, message }: ClientError) => lost.push(`${kind}: ${message}`),
    report: ({ message }) => reports.push(message),
  });
  watching.start(BROKERS);
  await vi.advanceTimersByTimeAsync(0);
  const answers = async (next: () => Promise<AskedTopics>, afterMs = 3_000) => {
    answer = next;
    await vi.advanceTimersByTimeAsync(afterMs);
  };
  return { watching, lost, reports, answers };
}

it('says nothing while a topic stays what it is, and asks by one connection every 3 s', async () => {
  const { lost, answers, watching } = await watch(has(OLD));
  await answers(has(OLD), 9_000);
  expect(lost).toEqual([]);
  expect(asked).toEqual(['one', 'one', 'one', 'one']);
  watching.close();
  await answers(has(NEW), 60_000);
  expect([asked.length, open, lost]).toEqual([4, 0, []]);
});

it('tells once, and for good, of a topic that was made anew, with the way on', async () => {
  const { lost, answers } = await watch(has(OLD));
  await answers(has(NEW), 60_000);
  expect(lost).toEqual([expect.stringMatching(/^denied: topic t was deleted and made anew: .*--to-earliest/)]);
  expect(open).toBe(0);
});

it('tells of it where the group has offsets of the old one, in whatever order the two come', async () => {
  const before = await watch(has(NEW));
  before.watching.committed('t', of(IN_C, OLD));
  expect(before.lost).toHaveLength(1);

  const after = await watch(fails);
  after.watching.committed('t', of(IN_C, OLD));
  await after.answers(has(NEW), 10_000);
  expect(after.lost).toHaveLength(1);
});

it('takes no notice of offsets that were copied from another cluster, or of what others put there', async () => {
  const { watching, lost, answers } = await watch(fails);
  watching.committed('t', of(IN_OTHER, OLD));
  watching.committed('t', 'something');
  watching.committed('t', undefined);
  await answers(has(NEW), 10_000);
  watching.committed('t', of(IN_OTHER, OLD));
  expect(lost).toEqual([]);
  expect(watching.metadata('t')).toBe(of(IN_C, NEW));
});

it('has what it knows committed, which is that of the old topic until it has been told', async () => {
  const { watching } = await watch(fails);
  expect(watching.metadata('t')).toBeUndefined();
  watching.committed('t', of(IN_C, OLD));
  expect(watching.metadata('t')).toBe(of(IN_C, OLD));
});

it('knows the partitions that were added after the group had begun, as the group has it and whoever comes first', async () => {
  const added = ({ watching }: { watching: TopicWatch }) =>
    [2, 3, 4].map((partition) => watching.isAdded({ topic: 't', partition }));
  const first = await watch(has(OLD, 4));
  expect(added(first)).toEqual([false, false, true]);
  first.watching.committed('t', of(IN_C, OLD, 3));
  await first.answers(has(OLD, 5));
  expect(added(first)).toEqual([false, true, true]);
  expect(first.watching.metadata('t')).toBe(of(IN_C, OLD, 3));

  const second = await watch(fails);
  expect(added(second)).toEqual([false, false, false]);
  second.watching.committed('t', of(IN_C, OLD, 3));
  await second.answers(has(OLD, 5), 10_000);
  expect(added(second)).toEqual([false, true, true]);
});

it('tells of a topic that is missing for 10 s, not of one that is not there for a moment', async () => {
  const { lost, answers } = await watch(has(OLD));
  await answers(lacks, 6_000);
  await answers(has(OLD), 3_000);
  await answers(lacks, 12_000);
  expect(lost).toEqual([]);
  await answers(lacks, 3_000);
  expect(lost).toEqual([expect.stringContaining('topic t was deleted')]);
});

it('asks the next broker where one does not answer, less and less often, and says so once', async () => {
  const { reports, answers } = await watch(fails);
  await answers(fails, 120_000);
  expect(asked.slice(0, 3)).toEqual(['one', 'two', 'one']);
  expect(asked.length).toBeLessThan(9);
  expect(reports).toEqual([expect.stringMatching(/made anew can't be told: one:9092: no answer$/)]);
  expect(open).toBe(0);
  await answers(has(OLD), 30_000);
  asked.length = 0;
  await answers(has(OLD), 9_000);
  expect(asked).toHaveLength(3);
});

it('opens a connection again at once where the broker has closed it', async () => {
  const { answers, reports } = await watch(has(OLD));
  const closed = () => {
    answer = has(OLD);
    return fails();
  };
  for (let look = 0; look < 5; look++) await answers(closed);
  expect(asked).toHaveLength(11);
  expect(new Set(asked)).toEqual(new Set(['one']));
  expect([open, reports]).toEqual([1, []]);
});

it('holds up a rebalance for a second at most', async () => {
  const { watching } = await watch(() => new Promise(() => undefined));
  let isOver = false;
  void watching.lookSoon().then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(900);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(isOver).toBe(true);
});

it('asks nothing where only the client knows how to show who we are', async () => {
  const { answers } = await watch(has(OLD), { mechanism: 'GSSAPI' });
  await answers(has(NEW), 60_000);
  expect(asked).toEqual([]);
});
