import { describe, expect, it } from 'vitest';
import { asWorker } from '../../../src/config/worker.ts';
import { load, pipelineWith, problems } from './configuration-file.ts';

describe('workers', () => {
  it('have names of their own to the group and to the transaction coordinator, the same at each start', () => {
    const config = load(`instance: host-1\n${pipelineWith('workers: 2')}`);
    const [pipeline] = config.pipelines;
    expect(pipeline).toMatchObject({ workers: 2, worker: 0, transactionalId: 'flights.route.host-1.0' });
    if (!pipeline) return;
    expect(asWorker(pipeline, 1, config)).toEqual({
      ...pipeline,
      worker: 1,
      transactionalId: 'flights.route.host-1.1',
      group: { ...pipeline.group, instanceId: 'flights.route.host-1.1' },
    });
  });

  it('are not members by name where that is turned off', () => {
    const config = load(pipelineWith('workers: 2', 'consumer: { staticMembership: false }'));
    const [pipeline] = config.pipelines;
    expect(pipeline && asWorker(pipeline, 1, config).group.instanceId).toBeNull();
  });

  it('are refused a longest wait that is shorter than the first', () => {
    expect(problems(`${pipelineWith()}worker: { restart: { minDelay: 1s, maxDelay: 500ms } }\n`)).toEqual([
      'flights.yaml:11:46  worker.restart.maxDelay: found 500ms, must be at least minDelay',
    ]);
  });
});
