import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { defineTransform, PoisonRecord, type Transform } from '../../../src/index.ts';
import { testPipeline, type TestPipelineOptions } from '../../../src/testing.ts';

const folder = mkdtempSync(join(tmpdir(), 'testing-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'flights.yaml');
writeFileSync(
  file,
  `application: flights
kafka: { bootstrapServers: localhost:9092 }
pipelines:
  route:
    input: { topics: [flights], key: string, value: json }
    transform: ./route.ts
    outputs:
      on-time: { topic: flights.on-time, key: string, value: json }
      delayed: { topic: flights.delayed, key: string, value: { avro: ./delay.avsc } }
    retry: { attempts: 3, minDelay: 1h, maxDelay: 2h }
    deadLetter: { topic: flights.dead }
  copy:
    input: { topics: [flights], key: bytes, value: bytes }
    transform: "./\${COPY:-copy.cjs}"
    outputs: { out: { topic: copies, key: bytes, value: bytes } }
`,
);
writeFileSync(
  join(folder, 'delay.avsc'),
  '{"type":"record","name":"Delay","fields":[{"name":"minutes","type":"long"}]}',
);
writeFileSync(
  join(folder, 'copy.cjs'),
  "module.exports = ({ value }) => { if (value === null) throw new Error('no'); return { value }; };",
);
writeFileSync(
  join(folder, 'route.ts'),
  `import { defineTransform, PoisonRecord } from 'millrace';
export default defineTransform<{ delay: number }, unknown>(({ value }) => {
  if (value.delay < 0) return;
  if (value.delay > 1000) throw new PoisonRecord('not credible');
  return value.delay > 15
    ? { value: { minutes: value.delay }, to: 'delayed' }
    : [{ value, to: 'on-time' }, { key: null, value: null, to: 'on-time', partition: 1, timestamp: 5 }];
});
`,
);

describe('a pipeline in memory', () => {
  it('decodes, transforms and encodes as the running one does', async () => {
    const pipeline = await testPipeline(file, 'route');
    const { outputs, filtered, failed } = await pipeline.run([
      { key: 'SFO', value: { delay: 17 }, headers: { trace: 't1' } },
      { value: { delay: 3 } },
      { value: { delay: -1 } },
    ]);
    expect(outputs).toMatchObject({
      delayed: [{ topic: 'flights.delayed', key: 'SFO', value: { minutes: 17 }, timestamp: Date.UTC(2025, 0, 1) }],
      'on-time': [
        { key: null, value: { delay: 3 } },
        { key: null, value: null, partition: 1, timestamp: 5 },
      ],
    });
    const text = (output: string, index: number, name: string) => outputs[output]?.[index]?.headers.text(name);
    expect(text('delayed', 0, 'trace')).toBe('t1');
    expect([text('delayed', 0, 'event-id'), text('on-time', 1, 'event-id')]).toEqual([
      'flights/0/0/0',
      'flights/0/1/1',
    ]);
    expect(filtered).toEqual([{ value: { delay: -1 } }]);
    expect(failed).toEqual([]);
  });

  it('lists outputs that got nothing, and goes on counting offsets', async () => {
    const pipeline = await testPipeline(file, 'route');
    expect((await pipeline.run([])).outputs).toEqual({ delayed: [], 'on-time': [] });
    await pipeline.run([{ value: { delay: 20 } }]);
    const { outputs } = await pipeline.run([{ value: { delay: 20 } }]);
    expect(outputs['delayed']?.[0]?.headers.text('event-id')).toBe('flights/0/1/0');
  });

  it('takes a Buffer as the bytes on the topic', async () => {
    const { failed } = await (await testPipeline(file, 'route')).run([{ value: Buffer.from('{"delay":') }]);
    expect(failed).toMatchObject([
      { error: { name: 'DecodeError' }, attempts: 1, letter: { value: Buffer.from('{"delay":') } },
    ]);
  });

  it('refuses a record that the input’s format can not hold', async () => {
    const pipeline = await testPipeline(file, 'route');
    await expect(pipeline.run([{ key: 7, value: {} }])).rejects.toThrow('expected a string, found number 7');
  });
});

describe('failures in memory', () => {
  const run = async (transform: Transform<unknown>, options: TestPipelineOptions = {}) =>
    (await testPipeline(file, 'route', { ...options, transform })).run([{ key: 'SFO', value: { delay: 17 } }]);

  it('end as dead letters after all tries, without the wait', async () => {
    const attempts: number[] = [];
    const { failed } = await run((_, { attempt }) => {
      attempts.push(attempt);
      return Promise.reject(new Error('no answer'));
    });
    expect(attempts).toEqual([1, 2, 3]);
    expect(failed).toMatchObject([{ record: { key: 'SFO' }, error: { message: 'no answer' }, attempts: 3 }]);
    expect(failed[0]?.letter?.headers.text('__millrace.errors.message')).toBe('no answer');
    expect(failed[0]?.letter).toMatchObject({ key: Buffer.from('SFO'), value: Buffer.from('{"delay":17}') });
  });

  it('end at once for poison', async () => {
    const { failed } = await run(() => {
      throw new PoisonRecord('hopeless');
    });
    expect(failed).toMatchObject([{ attempts: 1, error: { name: 'PoisonRecord', message: 'hopeless' } }]);
  });

  it('are gone when a later try succeeds', async () => {
    const { failed, outputs } = await run((_, { attempt }) => {
      if (attempt < 3) throw new Error('not yet');
      return { value: { minutes: 1 }, to: 'delayed' };
    });
    expect([failed, outputs['delayed']?.length]).toEqual([[], 1]);
  });

  it('have no letter where the pipeline has no topic for them', async () => {
    const { failed } = await (await testPipeline(file, 'copy')).run([{ value: null }]);
    expect(failed).toMatchObject([{ letter: null, attempts: 3 }]);
  });

  it('do not keep the records behind them from running', async () => {
    const { failed, outputs } = await (
      await testPipeline(file, 'copy')
    ).run([{ value: null }, { value: Buffer.from('a') }]);
    expect([failed.length, outputs['out']]).toMatchObject([1, [{ value: Buffer.from('a') }]]);
  });
});

describe('what is loaded', () => {
  it('can be a transform that the test imported itself, whatever its types', async () => {
    interface Flight {
      delay: number;
    }
    const transform = defineTransform<Flight, { minutes: number }>(({ value }) => ({
      value: { minutes: value.delay },
      to: 'delayed',
    }));
    const { outputs } = await (await testPipeline(file, 'route', { transform })).run([{ value: { delay: 1 } }]);
    expect(outputs['delayed']).toHaveLength(1);
  });

  it('logs nowhere unless a logger is given', async () => {
    const info = vi.fn();
    const logger = { debug: info, info, warn: info, error: info };
    const transform: Transform<unknown> = (_, context) => {
      context.logger.info('seen');
    };
    await (await testPipeline(file, 'route', { transform })).run([{ value: 1 }]);
    expect(info).not.toHaveBeenCalled();
    await (await testPipeline(file, 'route', { transform, logger })).run([{ value: 1 }]);
    expect(info).toHaveBeenCalledWith('seen');
  });

  it('is refused with the pipelines that there are when the name is wrong', async () => {
    await expect(testPipeline(file, 'rout')).rejects.toThrow(`${file} has no pipeline 'rout'. Pipelines: route, copy`);
  });

  it('is refused as `millrace check` would', async () => {
    await expect(testPipeline(join(folder, 'none.yaml'), 'route')).rejects.toThrow('none.yaml');
  });

  it('takes its variables from the test where the test has some', async () => {
    await expect(testPipeline(file, 'copy', { env: { COPY: 'missing.cjs' } })).rejects.toThrow('missing.cjs');
  });
});
