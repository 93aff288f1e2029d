import { describe, expect, it } from 'vitest';
import { CLIENT_PROPERTIES } from '../../../src/config/client-properties.ts';
import { REFUSED_PROPERTIES } from '../../../src/config/client-refusals.ts';
import { load, pipelineWith, problems } from './configuration-file.ts';

function shared(...lines: string[]): string {
  const properties = lines.map((line) => `    ${line}\n`).join('');
  return pipelineWith().replace('pipelines:\n', `  properties:\n${properties}pipelines:\n`);
}

describe('client properties', () => {
  it('reach the clients that know them, those of the pipeline on top', () => {
    const yaml = shared(
      'client.dns.lookup: USE_ALL_DNS_IPS',
      'fetch.max.bytes: 2000000',
      'linger.ms: 0.5',
      'log_level: 3',
    );
    const [pipeline] = load(
      `${yaml}    consumer: { properties: { log_level: 7 } }\n    producer: { properties: { linger.ms: 20, compression.type: zstd } }\n`,
    ).pipelines;
    expect(pipeline?.consumerProperties).toEqual({
      'client.dns.lookup': 'use_all_dns_ips',
      'fetch.max.bytes': 2_000_000,
      log_level: 7,
    });
    expect(pipeline?.producerProperties).toEqual({
      'client.dns.lookup': 'use_all_dns_ips',
      'linger.ms': 20,
      'compression.type': 'zstd',
      log_level: 3,
    });
  });

  it('take numbers and true/false from variables', () => {
    const yaml = shared('socket.keepalive.enable: ${KEEP}', 'message.max.bytes: ${MAX}', 'debug: ${DEBUG}');
    const [pipeline] = load(yaml, { KEEP: 'true', MAX: '2000', DEBUG: 'cgrp,eos' }).pipelines;
    expect(pipeline?.producerProperties).toEqual({
      'socket.keepalive.enable': true,
      'message.max.bytes': 2000,
      debug: 'cgrp,eos',
    });
  });

  it.each([
    ['fetch.max.byte: 1', '5:5  X.fetch.max.byte: unknown field, did you mean "fetch.max.bytes"?'],
    [
      'max.bytes: 1',
      '5:5  X.max.bytes: unknown field, allowed: properties of librdkafka, by the names in its CONFIGURATION.md',
    ],
    ['sasl: { password: hunter2 }', expect.stringMatching(/^5:5 {2}X\.sasl: unknown field/)],
    ['message.max.bytes: 999', '5:24  X.message.max.bytes: found 999, allowed: a whole number from 1000 to 1000000000'],
    ['fetch.min.bytes: 0', '5:22  X.fetch.min.bytes: found 0, allowed: a whole number from 1 to 100000000'],
    ['linger.ms: -1', '5:16  X.linger.ms: found -1, allowed: a number from 0 to 900000'],
    ['check.crcs: maybe', '5:17  X.check.crcs: found maybe, allowed: true or false'],
    ['broker.address.family: v5', '5:28  X.broker.address.family: found v5, allowed: any, v4 or v6'],
    [
      'debug: eos,cgrb',
      expect.stringMatching(/^5:12 {2}X\.debug: found eos,cgrb, allowed: words with commas between them: generic, /),
    ],
    [
      'client.rack: 42',
      '5:18  X.client.rack: found 42, allowed: text; what YAML would read as something else needs quotes',
    ],
    ['rebalance_cb: x', '5:5  X.rebalance_cb: can not be set: rebalance_cb takes code, not a value'],
    [
      'heartbeat.interval.ms: 100',
      "5:5  X.heartbeat.interval.ms: depends on the group protocol: move it to a pipeline's consumer.properties",
    ],
    ['constructor: 1', expect.stringMatching(/^5:5 {2}X\.constructor: unknown field/)],
  ])('refuse %s', (line, problem) => {
    const found = problems(shared(line)).map((text) =>
      text.replace('flights.yaml:', '').replace('kafka.properties', 'X'),
    );
    expect(found).toEqual([problem]);
  });

  it('are refused where the other client belongs', () => {
    expect(
      problems(
        pipelineWith('consumer: { properties: { linger.ms: 1 } }', 'producer: { properties: { check.crcs: true } }'),
      ),
    ).toEqual([
      'flights.yaml:11:31  pipelines.route.consumer.properties.linger.ms: belongs to the producer: move it to producer.properties',
      'flights.yaml:12:31  pipelines.route.producer.properties.check.crcs: belongs to the consumer: move it to consumer.properties',
    ]);
  });
});

describe('client properties that would weaken the guarantee', () => {
  const refused = REFUSED_PROPERTIES.flatMap(({ names, reason }) => names.map((name) => [name, reason] as const));

  it.each(refused)('refuses %s wherever it stands, with the reason', (name, reason) => {
    const yaml = `${shared(`${name}: 1`)}    consumer: { properties: { ${name}: 1 } }\n    producer: { properties: { ${name}: 1 } }\n`;
    const message = `can not be set: ${name} ${reason}`;
    expect(problems(yaml)).toEqual([
      `flights.yaml:5:5  kafka.properties.${name}: ${message}`,
      `flights.yaml:13:31  pipelines.route.consumer.properties.${name}: ${message}`,
      `flights.yaml:14:31  pipelines.route.producer.properties.${name}: ${message}`,
    ]);
  });

  it('has no property of the client among them that does not exist, those of the Java clients aside', () => {
    const foreign = refused.filter(
      ([name, reason]) => !(name in CLIENT_PROPERTIES) && !reason.includes('Java clients'),
    );
    expect(foreign).toEqual([]);
  });

  // By hand, from what the guarantee rests on: a group that goes missing from the table turns this red.
  it.each([
    ['isolation.level', 'read_uncommitted'],
    ['enable.auto.commit', 'true'],
    ['enable.auto.offset.store', 'true'],
    ['auto.offset.reset', 'latest'],
    ['enable.idempotence', 'false'],
    ['acks', '1'],
    ['request.required.acks', '0'],
    ['retries', '0'],
    ['message.send.max.retries', '0'],
    ['max.in.flight', '10'],
    ['max.in.flight.requests.per.connection', '10'],
    ['transactional.id', 'mine'],
    ['transaction.timeout.ms', '1000'],
    ['message.timeout.ms', '10'],
    ['delivery.timeout.ms', '10'],
    ['socket.timeout.ms', '10'],
    ['group.id', 'mine'],
    ['group.instance.id', 'mine'],
    ['group.protocol', 'consumer'],
    ['partition.assignment.strategy', 'range'],
    ['queuing.strategy', 'lifo'],
    ['partitioner', 'random'],
    ['bootstrap.servers', 'one:9092'],
    ['statistics.interval.ms', '0'],
    ['plugin.library.paths', 'x.so'],
  ])('refuses %s: %s', (name, value) => {
    expect(problems(shared(`${name}: ${value}`))).toEqual([expect.stringContaining(`can not be set: ${name} `)]);
  });
});
