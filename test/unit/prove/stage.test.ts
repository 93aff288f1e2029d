import { describe, expect, it } from 'vitest';
import { copyOf, newStageName, stageConfig, STAGE_PREFIX, type Stage } from '../../../src/prove/stage.ts';
import { load, pipelineWith, topLevelWith } from '../config/configuration-file.ts';

const stage: Stage = { name: 'millrace-prove-1', pipeline: 'route', bootstrapServers: null };
const staged = (yaml: string, on: Stage = stage) => stageConfig(load(yaml), on, 'a');
const stagedPipeline = (...lines: string[]) => staged(pipelineWith(...lines)).pipelines[0];

describe('a pipeline on the stage', () => {
  it('reads, writes and commits under names of its own only', () => {
    expect(stagedPipeline('deadLetter: { topic: flights.dead }', 'group: flights-group')).toMatchObject({
      groupId: 'millrace-prove-1',
      transactionalId: 'millrace-prove-1.route.a.0',
      input: { topics: ['millrace-prove-1.flights', 'millrace-prove-1.cancellations'] },
      outputs: [{ topic: 'millrace-prove-1.flights.late' }, { topic: 'millrace-prove-1.flights.early' }],
      deadLetter: { topic: 'millrace-prove-1.flights.dead' },
    });
  });

  it('shows its transform the topics under the names that it knows', () => {
    expect(stagedPipeline()?.sourceNames).toEqual({
      'millrace-prove-1.flights': 'flights',
      'millrace-prove-1.cancellations': 'cancellations',
    });
  });

  it('reads its copies from the start and says where its records come from, whatever the file says', () => {
    const pipeline = stagedPipeline('provenance: false');
    expect(pipeline).toMatchObject({ provenance: true, input: { startAt: 'earliest' } });
    const latest = pipelineWith().replace('cancellations] }', 'cancellations], startAt: latest }');
    expect(staged(latest).pipelines[0]?.input.startAt).toBe('earliest');
  });

  it('has shorter waits, and keeps those that are short', () => {
    expect(
      stagedPipeline(
        'transaction: { commitInterval: 5m, timeout: 20m }',
        'retry: { attempts: 7, minDelay: 1s, maxDelay: 1h }',
        'consumer: { sessionTimeout: 45s }',
      ),
    ).toMatchObject({
      transaction: { commitIntervalMs: 500, timeoutMs: 1_200_000 },
      retry: { attempts: 7, minDelayMs: 100, maxDelayMs: 500 },
      group: { sessionTimeoutMs: 6_000 },
    });
    expect(
      stagedPipeline(
        'transaction: { commitInterval: 50ms }',
        'retry: { minDelay: 1ms, maxDelay: 2ms }',
        'consumer: { sessionTimeout: 2s }',
      ),
    ).toMatchObject({
      transaction: { commitIntervalMs: 50 },
      retry: { minDelayMs: 1, maxDelayMs: 2 },
      group: { sessionTimeoutMs: 2_000 },
    });
  });

  it('keeps a session that is longer than the heartbeats of the file allow otherwise', () => {
    const consumer = 'consumer: { sessionTimeout: 45s, properties: { heartbeat.interval.ms: 9000 } }';
    expect(stagedPipeline(consumer)?.group.sessionTimeoutMs).toBe(45_000);
  });

  it('has no other pipeline and no effect beside it, and takes no port that may be in use', () => {
    const effects = 'effects: { e: { input: { topics: [flights] }, eventId: { coordinates: true }, module: ./e.ts } }';
    const config = staged(topLevelWith(effects, 'http: { port: 8080 }'));
    expect(config).toMatchObject({ effects: [], http: { host: '127.0.0.1', port: 0 }, instance: 'a' });
    expect(config.pipelines).toHaveLength(1);
  });

  it('is proven on the cluster that is named, or on that of the file', () => {
    const on = (bootstrapServers: string | null) => staged(pipelineWith(), { ...stage, bootstrapServers }).cluster;
    expect(on('other:9092').bootstrapServers).toBe('other:9092');
    expect(on(null).bootstrapServers).toBe('localhost:9092');
  });
});

describe('the name of a copy', () => {
  it('is unique, and begins with what an ACL can be given for', () => {
    expect(newStageName()).not.toBe(newStageName());
    expect(copyOf({ name: newStageName() }, 'flights')).toMatch(new RegExp(`^${STAGE_PREFIX}[0-9a-f]{8}\\.flights$`));
  });

  it('is no longer than Kafka allows, and still tells long names apart', () => {
    const copies = ['a', 'b'].map((end) => copyOf(stage, 'x'.repeat(248) + end));
    expect(copies.map((copy) => copy.length)).toEqual([249, 249]);
    expect(new Set(copies).size).toBe(2);
  });
});
