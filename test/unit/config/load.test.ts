import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXAMPLE } from '../../../src/config/example.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { createAuthority } from '../../helpers/authority.ts';
import { ConfigFolder, load, pipelineWith, problems, topLevelWith } from './configuration-file.ts';

const FLIGHTS = `application: flights                     # prefix of groups and transactional ids
kafka:
  bootstrapServers: \${KAFKA_BOOTSTRAP_SERVERS:-localhost:9092}
pipelines:
  route-flights:
    input:     { topics: [flights], key: string, value: json }
    transform: ./transforms/route-flight.ts
    outputs:
      on-time: { topic: flights.on-time, key: string, value: json }
      delayed: { topic: flights.delayed, key: string, value: { avro: ./schemas/delayed-flight.avsc } }
    transaction: { commitInterval: 100ms, maxRecords: 10000 }
    retry:       { attempts: 3, minDelay: 1s, maxDelay: 10s }
    deadLetter:  { topic: flights.dead-letters }
`;

/** What the example names in `kafka`. */
function certificates(): Record<string, string> {
  const authority = createAuthority();
  onTestFinished(() => authority.remove());
  const { certificate, key } = authority.issue('client', 'change-me');
  const files = {
    'ca.pem': authority.ca,
    'identity-ca.pem': authority.ca,
    'client.pem': certificate,
    'client.key': key,
  };
  return Object.fromEntries(Object.entries(files).map(([name, path]) => [name, readFileSync(path, 'utf8')]));
}

describe('a configuration that is right', () => {
  it('compiles with absolute paths, units in milliseconds and bytes, and every default filled in', () => {
    const folder = new ConfigFolder(FLIGHTS);
    expect(folder.load()).toEqual({
      file: folder.file,
      application: 'flights',
      instance: 'host-1',
      cluster: { bootstrapServers: 'localhost:9092', tls: null, sasl: null, properties: {} },
      pipelines: [
        {
          kind: 'pipeline',
          name: 'route-flights',
          workers: 1,
          worker: 0,
          groupId: 'flights.route-flights',
          transactionalId: 'flights.route-flights.host-1.0',
          input: {
            topics: ['flights'],
            key: { type: 'string' },
            value: { type: 'json' },
            startAt: 'earliest',
            onDataLoss: 'stop',
          },
          transformPath: join(folder.path, 'transforms/route-flight.ts'),
          sourceNames: {},
          outputs: [
            { name: 'on-time', topic: 'flights.on-time', key: { type: 'string' }, value: { type: 'json' } },
            {
              name: 'delayed',
              topic: 'flights.delayed',
              key: { type: 'string' },
              value: { type: 'avro', schemaPath: join(folder.path, 'schemas/delayed-flight.avsc') },
            },
          ],
          transaction: { commitIntervalMs: 100, maxRecords: 10_000, maxBytes: 16 * 1024 * 1024, timeoutMs: 60_000 },
          retry: { attempts: 3, minDelayMs: 1000, maxDelayMs: 10_000 },
          deadLetter: { topic: 'flights.dead-letters', format: 'headers' },
          onError: 'hold',
          group: {
            protocol: 'classic',
            assignor: 'cooperative-sticky',
            sessionTimeoutMs: 10_000,
            maxPollIntervalMs: 300_000,
            instanceId: 'flights.route-flights.host-1.0',
          },
          provenance: false,
          consumerProperties: {},
          producerProperties: {},
        },
      ],
      effects: [],
      worker: {
        maxMemoryBytes: null,
        restart: { attempts: 10, minDelayMs: 200, maxDelayMs: 30_000, resetAfterMs: 300_000 },
      },
      http: { host: '0.0.0.0', port: 8080 },
      log: { level: 'info', format: 'auto' },
      shutdown: { graceMs: 30_000 },
      secrets: [],
    });
  });

  it('is frozen all through', () => {
    const config = load(FLIGHTS);
    const parts: unknown[] = [config];
    for (const part of parts) {
      expect(Object.isFrozen(part)).toBe(true);
      const inner: unknown[] = typeof part === 'object' && part !== null ? Object.values(part) : [];
      parts.push(...inner);
    }
    expect(parts.length).toBeGreaterThan(50);
  });

  it('is the example of the reference, and the least that the reference says is needed', () => {
    expect(new ConfigFolder(EXAMPLE, certificates()).load().pipelines).toHaveLength(1);
    const page = readFileSync(join(import.meta.dirname, '../../../docs/configuration.md'), 'utf8');
    const least = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? '';
    expect(load(least).pipelines[0]?.outputs).toMatchObject([{ key: { type: 'bytes' }, value: { type: 'bytes' } }]);
  });

  it('is the example in config/', () => {
    const file = join(import.meta.dirname, '../../../config/flights.yaml');
    expect(loadConfig(file, { env: {}, hostname: 'host-1' })).toMatchObject({ file, application: 'flights' });
  });

  it('takes what is set over what is the default', () => {
    const config = load(`application: flights
instance: gate-7
kafka: { bootstrapServers: ["one:9092", "[::1]:9093"] }
pipelines:
  route:
    group: other
    input: { topics: [flights], startAt: latest }
    transform: /elsewhere/route.ts
    outputs: { late: { topic: flights.late } }
    transaction: { commitInterval: 2s, maxBytes: 1MB, timeout: 5m }
    onError: stop
    consumer: { protocol: classic, assignor: range, sessionTimeout: 10s, maxPollInterval: 1h }
    provenance: true
http: { host: 127.0.0.1, port: 0 }
log: { level: debug, format: json }
shutdown: { grace: 1m }
`);
    expect(config).toMatchObject({
      instance: 'gate-7',
      cluster: { bootstrapServers: 'one:9092,[::1]:9093' },
      http: { host: '127.0.0.1', port: 0 },
      log: { level: 'debug', format: 'json' },
      shutdown: { graceMs: 60_000 },
    });
    expect(config.pipelines[0]).toMatchObject({
      groupId: 'other',
      transactionalId: 'flights.route.gate-7.0',
      input: { startAt: 'latest' },
      transformPath: '/elsewhere/route.ts',
      transaction: { commitIntervalMs: 2000, maxBytes: 1_000_000, timeoutMs: 300_000 },
      deadLetter: null,
      onError: 'stop',
      group: { assignor: 'range', sessionTimeoutMs: 10_000, maxPollIntervalMs: 3_600_000 },
      provenance: true,
    });
  });

  it('gives each pipeline its own group and transactional id', () => {
    const yaml = `${pipelineWith()}  copy: { input: { topics: [a] }, transform: ./c.ts, outputs: { b: { topic: b } } }\n`;
    expect(load(yaml).pipelines.map(({ groupId, transactionalId }) => [groupId, transactionalId])).toEqual([
      ['flights.route', 'flights.route.host-1.0'],
      ['flights.copy', 'flights.copy.host-1.0'],
    ]);
  });

  it('lets two pipelines share blocks by anchors, aliases and merge keys', () => {
    const yaml = `${pipelineWith('retry: &patient { attempts: 9, minDelay: 2s }')}  copy:
    input: { topics: [a] }
    transform: ./c.ts
    outputs: { b: { topic: b } }
    retry: { <<: *patient, minDelay: 3s }
`;
    expect(load(yaml).pipelines.map(({ retry }) => retry)).toMatchObject([
      { attempts: 9, minDelayMs: 2000 },
      { attempts: 9, minDelayMs: 3000 },
    ]);
  });
});

describe('a file that can not be read at all', () => {
  it.each([
    ['an empty file', '', 'the file is empty'],
    ['a file of comments', '# nothing yet\n', 'the file is empty'],
    ['a list', '- application\n', 'the file must hold a mapping of fields, the first of them `application: …`'],
    ['a text', 'flights', 'the file must hold a mapping of fields, the first of them `application: …`'],
  ])('refuses %s', (_, yaml, message) => {
    expect(problems(yaml)).toEqual([`flights.yaml  ${message}`]);
  });

  it('refuses a file that is not there, under the name that was given', () => {
    expect(() => loadConfig('no/such.yaml')).toThrow('no/such.yaml  the file can not be read: no such file');
  });

  it('refuses a folder', () => {
    const { path } = new ConfigFolder('');
    expect(() => loadConfig(path)).toThrow(`${path}  the file can not be read: it is a folder`);
  });
});

describe('the instance', () => {
  it('must be set where the host name can not stand in for it', () => {
    const { file } = new ConfigFolder(pipelineWith());
    expect(() => loadConfig(file, { env: {}, hostname: 'Jo’s laptop' })).toThrow(
      '1:1  instance: missing, and the host name "Jo’s laptop" is not fit to stand in for it: set it',
    );
    const named = new ConfigFolder(topLevelWith('instance: laptop'));
    expect(loadConfig(named.file, { env: {}, hostname: 'Jo’s laptop' }).instance).toBe('laptop');
  });
});
