import { describe, expect, it } from 'vitest';
import { load, pipelineWith, problems } from './configuration-file.ts';

const OTHER = 'input: { topics: [a] }, transform: ./b.ts, outputs: { b: { topic: b } }';

describe('topics', () => {
  it('refuses an output to a topic that the pipeline reads', () => {
    expect(problems(pipelineWith().replace('flights.early', 'cancellations'))).toEqual([
      'flights.yaml:10:23  pipelines.route.outputs.early.topic: found cancellations, must not be one of input.topics: the pipeline would read its own output, for ever',
    ]);
  });

  it('refuses dead letters to a topic that the pipeline reads', () => {
    expect(problems(pipelineWith('deadLetter: { topic: flights }'))).toEqual([
      'flights.yaml:11:26  pipelines.route.deadLetter.topic: found flights, must not be one of input.topics: a dead letter would be read and fail again, for ever',
    ]);
  });

  it('refuses dead letters among the results', () => {
    expect(problems(pipelineWith('deadLetter: { topic: flights.late }'))).toEqual([
      "flights.yaml:11:26  pipelines.route.deadLetter.topic: found flights.late, must not be an output's topic: its readers would take dead letters for results",
    ]);
  });

  it('refuses a topic that is read twice', () => {
    expect(problems(pipelineWith().replace('[flights, cancellations]', '[flights, a, flights]'))).toEqual([
      'flights.yaml:6:35  pipelines.route.input.topics[2]: found flights, must not be listed twice',
    ]);
  });

  it('lets one pipeline read what another writes, and two outputs share a topic', () => {
    const next = `  next: { input: { topics: [flights.late] }, transform: ./b.ts, outputs: { b: { topic: flights } } }\n`;
    expect(load(pipelineWith().replace('flights.early', 'flights.late') + next).pipelines).toHaveLength(2);
  });
});

describe('groups', () => {
  it('refuses two pipelines in one group, at the group of the second', () => {
    const message =
      'must not have the consumer group of pipeline "route": the two would take partitions from each other';
    expect(problems(`${pipelineWith('group: g')}  b: { group: g, ${OTHER} }\n`)).toEqual([
      `flights.yaml:12:15  pipelines.b.group: found g, ${message}`,
    ]);
    expect(problems(`${pipelineWith()}  b: { group: flights.route, ${OTHER} }\n`)).toEqual([
      `flights.yaml:11:15  pipelines.b.group: found flights.route, ${message}`,
    ]);
  });

  it('refuses it where the second is left to its default', () => {
    expect(problems(`${pipelineWith('group: flights.b')}  b: { ${OTHER} }\n`)).toEqual([
      'flights.yaml:12:3  pipelines.b: must not have the consumer group of pipeline "route": the two would take partitions from each other',
    ]);
  });
});

describe('delays', () => {
  it.each([
    ['retry: { minDelay: 2s, maxDelay: 1s }', '11:38  X.retry.maxDelay: found 1s, must be at least minDelay'],
    ['retry: { maxDelay: 500ms }', '11:24  X.retry.maxDelay: found 500ms, must be at least minDelay (by default 1s)'],
    [
      'retry: { minDelay: 1m }',
      '11:24  X.retry.minDelay: found 1m, is too long: maxDelay (by default 10s) must be at least minDelay',
    ],
    [
      'transaction: { commitInterval: 1s, timeout: 1999ms }',
      '11:49  X.transaction.timeout: found 1999ms, must be at least twice commitInterval',
    ],
    [
      'transaction: { commitInterval: 31s }',
      '11:36  X.transaction.commitInterval: found 31s, is too long: timeout (by default 1m) must be at least twice commitInterval',
    ],
    [
      'consumer: { sessionTimeout: 10s, maxPollInterval: 10s }',
      '11:55  X.consumer.maxPollInterval: found 10s, must be longer than sessionTimeout',
    ],
    [
      'consumer: { maxPollInterval: 10s }',
      '11:34  X.consumer.maxPollInterval: found 10s, must be longer than sessionTimeout (by default 10s)',
    ],
    [
      'consumer: { sessionTimeout: 6m }',
      '11:33  X.consumer.sessionTimeout: found 6m, is too long: maxPollInterval (by default 5m) must be longer than sessionTimeout',
    ],
    [
      'consumer: { properties: { heartbeat.interval.ms: 10000 } }',
      '11:54  X.consumer.properties.heartbeat.interval.ms: found 10000, must be shorter than sessionTimeout; a third is usual',
    ],
  ])('refuses %s', (line, problem) => {
    expect(problems(pipelineWith(line))).toEqual([`flights.yaml:${problem.replace('X', 'pipelines.route')}`]);
  });

  it.each([
    'retry: { minDelay: 10s }',
    'retry: { minDelay: 1s, maxDelay: 1s }',
    'transaction: { commitInterval: 30s }',
    'consumer: { sessionTimeout: 10s, maxPollInterval: 11s, properties: { heartbeat.interval.ms: 3000 } }',
  ])('takes %s', (line) => {
    expect(problems(pipelineWith(line))).toEqual([]);
  });
});

describe('the group protocol', () => {
  it('refuses with consumer what only the classic one has', () => {
    const line =
      'consumer: { protocol: consumer, assignor: range, sessionTimeout: 10s, staticMembership: true, properties: { heartbeat.interval.ms: 1000 } }';
    const message = 'is for protocol: classic only; with protocol: consumer the broker decides';
    expect(problems(pipelineWith(line))).toEqual([
      `flights.yaml:11:37  pipelines.route.consumer.assignor: ${message}`,
      `flights.yaml:11:54  pipelines.route.consumer.sessionTimeout: ${message}`,
      `flights.yaml:11:75  pipelines.route.consumer.staticMembership: ${message}`,
      `flights.yaml:11:113  pipelines.route.consumer.properties.heartbeat.interval.ms: ${message}`,
    ]);
  });

  it('refuses with classic what only the other one has', () => {
    expect(problems(pipelineWith('consumer: { properties: { group.remote.assignor: uniform } }'))).toEqual([
      'flights.yaml:11:31  pipelines.route.consumer.properties.group.remote.assignor: is for protocol: consumer only; use assignor',
    ]);
  });

  it('takes consumer with what it has', () => {
    const line =
      'consumer: { protocol: consumer, maxPollInterval: 30s, properties: { group.remote.assignor: uniform } }';
    expect(load(pipelineWith(line)).pipelines[0]).toMatchObject({
      group: { protocol: 'consumer', maxPollIntervalMs: 30_000, instanceId: null },
      consumerProperties: { 'group.remote.assignor': 'uniform' },
    });
  });
});

describe('static membership', () => {
  it('goes by the name of the transactional id, unless it is turned off', () => {
    const [on] = load(pipelineWith()).pipelines;
    expect(on?.group.instanceId).toBe(on?.transactionalId);
    const [off] = load(pipelineWith('consumer: { staticMembership: false }')).pipelines;
    expect(off?.group.instanceId).toBeNull();
  });
});

it('says nothing of a rule whose fields are wrong themselves', () => {
  expect(problems(pipelineWith('retry: { minDelay: 2s, maxDelay: 1 }'))).toHaveLength(1);
});
