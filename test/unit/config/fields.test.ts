import { describe, expect, it } from 'vitest';
import { suggestion } from '../../../src/config/validate.ts';
import { load, pipelineWith, problems, topLevelWith } from './configuration-file.ts';

const NAME = 'letters, digits, ".", "_" and "-" that begins with a letter or digit';
const TOPIC = 'a topic\'s name: at most 249 letters, digits, ".", "_" and "-", and not "." or ".."';
const SERDE = 'bytes, string, json or { avro: <path to a .avsc file> }';
const UNIT = 'with its unit (ms, s, m or h)';

describe('unknown fields', () => {
  it.each([
    ['log: { levl: info }', '11:8  log.levl: unknown field, did you mean "level"?'],
    [
      'retries: 3',
      '11:1  retries: unknown field, allowed: application, instance, kafka, pipelines, effects, worker, http, log or shutdown',
    ],
    ['logg: {}', '11:1  logg: unknown field, did you mean "log"?'],
    [
      'constructor: {}',
      '11:1  constructor: unknown field, allowed: application, instance, kafka, pipelines, effects, worker, http, log or shutdown',
    ],
  ])('refuses "%s" with what may have been meant', (line, problem) => {
    expect(problems(topLevelWith(line))).toEqual([`flights.yaml:${problem}`]);
  });

  it('does not call a field missing that is only misspelt', () => {
    expect(
      problems('aplication: flights\nkafka: { bootstrapServers: one:9092 }\npipelines:\n  a:\n    transform: 1\n'),
    ).toEqual([
      'flights.yaml:1:1  aplication: unknown field, did you mean "application"?',
      'flights.yaml:4:3  pipelines.a.input: missing, needs: a mapping with the fields topics, key, value, startAt, onDataLoss',
      'flights.yaml:4:3  pipelines.a.outputs: missing, needs: a mapping of at least one output',
      "flights.yaml:5:16  pipelines.a.transform: found 1, allowed: a path, relative to the configuration file's folder, such as ./transforms/route-flight.ts",
    ]);
  });

  it('are found where a merge key takes them from', () => {
    const lines = ['consumer: &c { protocol: classic, asignor: range }', 'producer: { <<: *c }'];
    expect(problems(pipelineWith(...lines))).toEqual([
      'flights.yaml:11:20  pipelines.route.producer.protocol: unknown field, allowed: properties',
      'flights.yaml:11:39  pipelines.route.consumer.asignor: unknown field, did you mean "assignor"?',
      'flights.yaml:11:39  pipelines.route.producer.asignor: unknown field, allowed: properties',
    ]);
  });
});

describe('what may have been meant', () => {
  it.each([
    ['bootstrap_servers', 'bootstrapServers'],
    ['dead_letter', 'deadLetter'],
    ['maxdelay', 'maxDelay'],
    ['tpoic', 'topic'],
    ['foo', undefined],
    ['x', undefined],
  ])('by %s is %s', (name, meant) => {
    expect(suggestion(name, ['bootstrapServers', 'deadLetter', 'maxDelay', 'topic', 'log', 'key'])).toBe(meant);
  });
});

describe('missing fields', () => {
  it('are reported at the block that lacks them', () => {
    expect(problems('log: {}\n')).toEqual([
      `flights.yaml:1:1  application: missing, needs: a name of at most 100 ${NAME}`,
      'flights.yaml:1:1  kafka: missing, needs: a mapping with the fields bootstrapServers, tls, sasl, properties',
      'flights.yaml:1:1  pipelines: needs at least one pipeline, or one effect under effects',
    ]);
    expect(problems(pipelineWith('deadLetter: { format: json }'))).toEqual([
      `flights.yaml:11:5  pipelines.route.deadLetter.topic: missing, needs: ${TOPIC}`,
    ]);
  });
});

describe('a value of the wrong kind or out of bounds', () => {
  it.each([
    [
      'transaction: { commitInterval: 100 }',
      '11:36  X.transaction.commitInterval: found 100',
      `a duration from 1ms to 10m, ${UNIT}`,
    ],
    [
      'transaction: { commitInterval: 0ms }',
      '11:36  X.transaction.commitInterval: found 0ms',
      `a duration from 1ms to 10m, ${UNIT}`,
    ],
    [
      'transaction: { commitInterval: 1 s }',
      '11:36  X.transaction.commitInterval: found "1 s"',
      `a duration from 1ms to 10m, ${UNIT}`,
    ],
    [
      'transaction: { timeout: 999ms }',
      '11:29  X.transaction.timeout: found 999ms',
      `a duration from 1s to 1h, ${UNIT}`,
    ],
    ['transaction: { maxRecords: 0 }', '11:32  X.transaction.maxRecords: found 0', 'a whole number from 1 to 1000000'],
    [
      'transaction: { maxRecords: 1.5 }',
      '11:32  X.transaction.maxRecords: found 1.5',
      'a whole number from 1 to 1000000',
    ],
    [
      'transaction: { maxRecords: many }',
      '11:32  X.transaction.maxRecords: found many',
      'a whole number from 1 to 1000000',
    ],
    [
      'transaction: { maxBytes: 2GiB }',
      '11:30  X.transaction.maxBytes: found 2GiB',
      'a size from 1KiB to 1GiB, with its unit (B, KB, KiB, MB, MiB, GB or GiB)',
    ],
    [
      'transaction: { maxBytes: 16M }',
      '11:30  X.transaction.maxBytes: found 16M',
      'a size from 1KiB to 1GiB, with its unit (B, KB, KiB, MB, MiB, GB or GiB)',
    ],
    ['retry: { attempts: 0 }', '11:24  X.retry.attempts: found 0', 'a whole number from 1 to 1000'],
    ['retry: 3', '11:12  X.retry: found 3', 'a mapping with the fields attempts, minDelay, maxDelay'],
    ['retry:', '11:5  X.retry: found nothing', 'a mapping with the fields attempts, minDelay, maxDelay'],
    ['retry: [3]', '11:12  X.retry: found a list', 'a mapping with the fields attempts, minDelay, maxDelay'],
    ['deadLetter: { topic: "late flights" }', '11:26  X.deadLetter.topic: found "late flights"', TOPIC],
    ['deadLetter: { topic: .. }', '11:26  X.deadLetter.topic: found ..', TOPIC],
    [`deadLetter: { topic: ${'t'.repeat(250)} }`, `11:26  X.deadLetter.topic: found ${'t'.repeat(60)}…`, TOPIC],
    ['deadLetter: { topic: 2024 }', '11:26  X.deadLetter.topic: found 2024', TOPIC],
    ['deadLetter: { topic: t, format: xml }', '11:37  X.deadLetter.format: found xml', 'headers or json'],
    ['onError: skip', '11:14  X.onError: found skip', 'hold or stop'],
    ['group: _ids', '11:12  X.group: found _ids', `a name of at most 249 ${NAME}`],
    ['provenance: yes', '11:17  X.provenance: found yes', 'true or false'],
    ['consumer: { protocol: eager }', '11:27  X.consumer.protocol: found eager', 'classic or consumer'],
    [
      'consumer: { sessionTimeout: 999ms }',
      '11:33  X.consumer.sessionTimeout: found 999ms',
      `a duration from 1s to 1h, ${UNIT}`,
    ],
  ])('refuses %s', (line, found, allowed) => {
    expect(problems(pipelineWith(line))).toEqual([
      `flights.yaml:${found.replace('X', 'pipelines.route')}, allowed: ${allowed}`,
    ]);
  });

  it.each([
    ['http: { port: 65536 }', '11:15  http.port: found 65536, allowed: a whole number from 0 to 65535'],
    [
      'http: { host: 127 }',
      '11:15  http.host: found 127, allowed: text; what YAML would read as something else needs quotes',
    ],
    ['log: { level: loud }', '11:15  log.level: found loud, allowed: debug, info, warn or error'],
    ['log: { format: xml }', '11:16  log.format: found xml, allowed: auto, json or pretty'],
    ['shutdown: { grace: 30 }', `11:20  shutdown.grace: found 30, allowed: a duration from 1s to 1h, ${UNIT}`],
    ['instance: a/b', `11:11  instance: found a/b, allowed: a name of at most 253 ${NAME}`],
  ])('refuses %s at the top level', (line, problem) => {
    expect(problems(topLevelWith(line))).toEqual([`flights.yaml:${problem}`]);
  });

  it.each([
    ['localhost', '"localhost" without a port'],
    ['"one:9092;two:9092"', 'a list with semicolons'],
    ['[]', 'an empty list'],
    ['9092', 'a number'],
  ])('refuses bootstrapServers: %s', (servers) => {
    const [problem, ...others] = problems(pipelineWith().replace('localhost:9092', servers));
    expect(problem).toMatch(/^flights.yaml:3:21 {2}kafka.bootstrapServers: found .*, allowed: host:port, several/);
    expect(others).toEqual([]);
  });

  it('names the place in a list', () => {
    const yaml = pipelineWith().replace('localhost:9092', '[one:9092, two]').replace('[flights,', '[flights, a b,');
    expect(problems(yaml)).toEqual([
      'flights.yaml:3:32  kafka.bootstrapServers[1]: found two, allowed: host:port',
      `flights.yaml:6:32  pipelines.route.input.topics[1]: found "a b", allowed: ${TOPIC}`,
    ]);
  });
});

describe('serdes', () => {
  it.each([
    ['jsn', `6:40  X: found jsn, allowed: ${SERDE}`],
    ['[json]', `6:40  X: found a list, allowed: ${SERDE}`],
    ['{ avr: ./a.avsc }', '6:42  X.avr: unknown field, did you mean "avro"?'],
    [
      '{ avro: 1 }',
      "6:48  X.avro: found 1, allowed: a path, relative to the configuration file's folder, such as ./schemas/flight.avsc",
    ],
    [
      '{}',
      "6:33  X.avro: missing, needs: a path, relative to the configuration file's folder, such as ./schemas/flight.avsc",
    ],
  ])('refuses %s', (serde, problem) => {
    const yaml = pipelineWith().replace('[flights, cancellations]', `[flights], value: ${serde}`);
    expect(problems(yaml)).toEqual([`flights.yaml:${problem.replace('X', 'pipelines.route.input.value')}`]);
  });
});

describe('names', () => {
  it('are checked in keys, and what they name is looked at all the same', () => {
    const yaml = pipelineWith().replace('late: { topic: flights.late }', 'too late: { topik: flights.late }');
    expect(problems(yaml)).toEqual([
      `flights.yaml:9:7  pipelines.route.outputs.too late: this name can not be used, allowed: a name of at most 100 ${NAME}`,
      'flights.yaml:9:19  pipelines.route.outputs.too late.topik: unknown field, did you mean "topic"?',
    ]);
  });

  it('may look like a number', () => {
    expect(load(pipelineWith().replace('  route:', '  2024:')).pipelines[0]?.name).toBe('2024');
  });

  it('must be there: a file without pipelines or a pipeline without outputs does nothing', () => {
    expect(problems(pipelineWith().replace(/outputs:\n.*\n.*\n/, 'outputs: {}\n'))).toEqual([
      'flights.yaml:8:14  pipelines.route.outputs: found an empty mapping, allowed: a mapping of at least one output',
    ]);
    expect(problems('application: a\nkafka: { bootstrapServers: "b:1" }\npipelines: {}\n')).toEqual([
      'flights.yaml:3:12  pipelines: found an empty mapping, needs at least one pipeline, or one effect under effects',
    ]);
  });
});

it('reports all problems of a file at once, in its order, those of several fields among them', () => {
  const lines = [
    'transform: 7',
    'retry: { attempts: 0, minDelay: 5s, maxDelay: 1s }',
    'deadLetter: { topic: flights, formt: json }',
    'transaction: { commitInterval: 1m, timeout: 1 }',
  ];
  const yaml = pipelineWith(...lines).replace('    transform: ./route.ts\n', '');
  expect(
    problems(yaml).map((line) => line.replace(/^flights.yaml:(\S+) {2}pipelines\.route\.(.*?): .*/, '$1 $2')),
  ).toEqual([
    '10:16 transform',
    '11:24 retry.attempts',
    '11:51 retry.maxDelay',
    '12:26 deadLetter.topic',
    '12:35 deadLetter.formt',
    '13:49 transaction.timeout',
  ]);
});
