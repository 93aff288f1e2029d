import { describe, expect, it } from 'vitest';
import { lineOf } from '../../../src/check/finding.ts';
import { judgeConnection, judgeDurability, judgeSecurity } from '../../../src/check/judge-cluster.ts';
import { judgeFlow } from '../../../src/check/judge-flow.ts';
import type { ClusterFacts } from '../../../src/kafka/inspect.ts';
import { needsOf } from '../../../src/kafka/needs.ts';
import { load, pipelineWith } from '../config/configuration-file.ts';

const READ = 3;
const WRITE = 4;
const node = { id: 1, host: 'one', port: 9092 };

function topic(name: string, operations: number[], replicas = 3) {
  const nodes = Array.from({ length: replicas }, () => node);
  return { name, authorizedOperations: operations, partitions: [{ partition: 0, replicas: nodes, isr: nodes }] };
}

const settings = (minInSync = '2', maxMessageBytes = '1048588') =>
  new Map([
    ['min.insync.replicas', minInSync],
    ['max.message.bytes', maxMessageBytes],
  ]);

const TOPICS = ['flights', 'cancellations', 'flights.late', 'flights.early', 'flights.dead'];
const ASKED = {
  kind: 'asked',
  broker: new Map([['transaction.max.timeout.ms', '900000']]),
  topics: new Map([...TOPICS, '__transaction_state', '__consumer_offsets'].map((name) => [name, settings()])),
  groups: new Map([['flights.route', true]]),
  transactionalIds: new Map([['flights.route.host-1.0', true]]),
} as const;

/** A cluster on which nothing is missing, but for what is given. */
function facts(own: Partial<ClusterFacts> = {}): ClusterFacts {
  const input = ['flights', 'cancellations'].map((name) => topic(name, [READ]));
  const written = ['flights.late', 'flights.early', 'flights.dead'].map((name) => topic(name, [WRITE]));
  const internal = ['__transaction_state', '__consumer_offsets'].map((name) => topic(name, []));
  return { brokers: 3, topics: [...input, ...written, ...internal], more: ASKED, ...own };
}

const PIPELINE = ['deadLetter: { topic: flights.dead }'];

function flowLines(own: Partial<ClusterFacts>, ...lines: string[]): string[] {
  const [pipeline] = load(pipelineWith(...PIPELINE, ...lines)).pipelines;
  const needs = { ...needsOf(pipeline!), transactionalIds: [pipeline!.transactionalId] };
  return judgeFlow(pipeline!, needs, facts(own)).map((each) => lineOf(each).replace('pipeline route: ', ''));
}

const trouble = (lines: string[]): string[] => lines.filter((line) => !line.startsWith('ok'));
const withTopic = (changed: ReturnType<typeof topic> & { error?: { code: number; message: string } }) => ({
  topics: facts().topics.map((each) => (each.name === changed.name ? changed : each)),
});

describe('what a flow needs', () => {
  it('is named one by one', () => {
    expect(flowLines({})).toEqual([
      'ok           Read on topic flights, 1 partition',
      'ok           Read on topic cancellations, 1 partition',
      'ok           Write on topic flights.late, 1 partition',
      'ok           Write on topic flights.early, 1 partition',
      'ok           Write on topic flights.dead, 1 partition',
      'ok           Read on group flights.route',
      'ok           Write on transactional id flights.route.host-1.0',
      "ok           transaction.timeout 60000 ms is within the brokers' transaction.max.timeout.ms, 900000",
    ]);
  });

  it('may be denied', () => {
    const denied = (what: string) => `error        ${what} is denied to this user: add an ACL that allows it`;
    expect(trouble(flowLines(withTopic(topic('flights.late', [READ]))))).toEqual([
      denied('Write on topic flights.late'),
    ]);
    expect(trouble(flowLines(withTopic(topic('flights', [WRITE]))))).toEqual([denied('Read on topic flights')]);
    expect(
      trouble(
        flowLines({
          more: { ...ASKED, groups: new Map([['flights.route', false]]), transactionalIds: new Map() },
        }),
      ),
    ).toEqual([denied('Read on group flights.route'), denied('Write on transactional id flights.route.host-1.0')]);
  });

  it('may be missing, or hidden', () => {
    const late = { ...topic('flights.late', []), partitions: [] };
    expect(trouble(flowLines(withTopic({ ...late, error: { code: 3, message: '' } })))).toEqual([
      'error        topic flights.late not found: create it, or mend the name in the configuration',
    ]);
    expect(trouble(flowLines(withTopic({ ...late, error: { code: 29, message: '' } })))).toEqual([
      expect.stringContaining('Write on topic flights.late is denied to this user'),
    ]);
  });

  it('is not called fine where nobody tells', () => {
    const { partitions } = topic('flights', []);
    expect(trouble(flowLines({ topics: facts().topics.map(({ name }) => ({ name, partitions })) }))).toHaveLength(5);
    const why = 'only the Kafka client knows GSSAPI';
    expect(trouble(flowLines({ more: { kind: 'unasked', why } }))).toEqual([
      `not checked  Read on group flights.route: ${why}`,
      `not checked  Write on transactional id flights.route.host-1.0: ${why}`,
      `not checked  transaction.timeout 60000 ms against the brokers' transaction.max.timeout.ms: ${why}`,
    ]);
    expect(trouble(flowLines({ more: { ...ASKED, broker: null } }))).toEqual([
      expect.stringMatching(/^not checked.*DescribeConfigs on the cluster is denied/),
    ]);
  });
});

describe('limits', () => {
  it('of the brokers on transactions must not be exceeded', () => {
    expect(trouble(flowLines({}, 'transaction: { timeout: 15m }'))).toEqual([]);
    expect(trouble(flowLines({}, 'transaction: { timeout: 16m }'))).toEqual([
      expect.stringMatching(/^error .*transaction\.timeout 960000 ms is above .*, 900000: shorten the one/),
    ]);
  });

  it('of a topic on records should not be below that of its producer', () => {
    const topics = new Map([...ASKED.topics, ['flights.late', settings('2', '2000')]]);
    const more = { ...ASKED, topics };
    expect(trouble(flowLines({ more }))).toEqual([
      expect.stringMatching(/^warning .*flights\.late .*at most 2000 bytes/),
    ]);
    expect(trouble(flowLines({ more }, 'producer: { properties: { message.max.bytes: 2000 } }'))).toEqual([
      // Now what is read may be larger than a dead letter.
      expect.stringMatching(/^warning .*topic flights may have 1048588 bytes, dead letters only 2000/),
      expect.stringMatching(/^warning .*topic cancellations may have/),
    ]);
  });
});

describe('the cluster', () => {
  const cluster = { bootstrapServers: 'localhost:9092', tls: null, sasl: null, properties: {} };

  it('answers, encrypted or not', () => {
    expect(judgeConnection(cluster, facts()).text).toBe(
      'localhost:9092 answers: 3 brokers, no encryption, no credentials',
    );
  });

  it('should know no secret that the network knows', () => {
    const sasl = { mechanism: 'PLAIN', username: 'me', password: 'x' } as const;
    expect(judgeSecurity({ ...cluster, sasl })).toMatchObject([{ verdict: 'warning' }]);
    const tls = { caPath: null, certificatePath: null, keyPath: null, keyPassword: null };
    expect(judgeSecurity({ ...cluster, tls, sasl })).toEqual([]);
    const properties = {
      'enable.ssl.certificate.verification': false,
      'ssl.endpoint.identification.algorithm': 'none',
    };
    expect(judgeSecurity({ ...cluster, tls, properties })).toMatchObject([
      { verdict: 'warning' },
      { verdict: 'warning' },
    ]);
  });

  it('should not lose with one broker what was committed', () => {
    expect(judgeDurability(facts())).toEqual([]);
    expect(judgeDurability(facts(withTopic(topic('flights.late', [WRITE], 1))))).toMatchObject([
      { verdict: 'warning', text: expect.stringContaining('flights.late has one replica') as string },
    ]);
    const topics = new Map([...ASKED.topics, ['__transaction_state', settings('1')]]);
    expect(judgeDurability(facts({ more: { ...ASKED, topics } }))).toMatchObject([
      { verdict: 'warning', text: expect.stringContaining('__transaction_state has min.insync.replicas 1') as string },
    ]);
  });

  it('tells some only to those who may ask', () => {
    const hidden = facts().topics.filter(({ name }) => !name.startsWith('__'));
    const topics = new Map([...ASKED.topics, ['flights', null]]);
    expect(judgeDurability(facts({ topics: hidden, more: { ...ASKED, topics } })).map(lineOf)).toEqual([
      expect.stringMatching(/^not checked {2}replicas of __transaction_state, __consumer_offsets/),
      expect.stringMatching(/^not checked {2}min\.insync\.replicas and max\.message\.bytes of flights:/),
    ]);
  });
});
