import { execFileSync } from 'node:child_process';

import { expect } from 'vitest';
import { stringify } from 'yaml';

import { STAGE_PREFIX } from '../../src/prove/stage.ts';
import { COPY } from './copy.ts';
import { pipelineConfig, type Fields } from './pipeline-config.ts';
import type { Processor } from './processor.ts';
import type { Rig } from './rig.ts';
import { startSeeder } from './seeder.ts';

export interface Provable {
  readonly transform?: string;
  /** In the input. */
  readonly records?: number;
  /** On top of what the tests have in common: of the pipeline, and beside the pipelines. */
  readonly pipeline?: Fields;
  readonly config?: Fields;
}

/** Writes the configuration of a pipeline `p` that `millrace prove` can be tried on; returns the file's path. */
export async function provable(
  rig: Rig,
  { transform = COPY, records = 200, pipeline = {}, config = {} }: Provable = {},
) {
  const input = await rig.topic('in', 4);
  const outputs = { left: await rig.topic('left', 3), right: await rig.topic('right', 2) };
  const deadLetters = await rig.topic('dead', 2);
  const seeder = await startSeeder(rig.bootstrapServers, input);
  rig.onEnd(() => seeder.close());
  await seeder.send(
    Array.from({ length: records }, (_, id) => ({
      key: Buffer.from(`k${id % 9}`),
      value: Buffer.from(`{"id":${id}}`),
    })),
  );
  await rig.write('transform.mjs', transform);
  const fields = pipelineConfig({
    application: rig.name,
    pipeline: 'p',
    bootstrapServers: rig.bootstrapServers,
    input,
    outputs,
    deadLetters,
    transform: './transform.mjs',
    own: { pipeline, config },
  });
  return rig.write('prove.yaml', stringify(fields));
}

/** What the names of all that a proof creates begin with, as it says itself. */
export const stageOf = async (proof: Processor): Promise<string> =>
  /(\S+)\.\*/.exec(await proof.untilLogged(/^stage: /))?.[1] ?? '';

export const verdictOf = ({ log }: Processor): string => log.findLast((line) => line.startsWith('verdict: ')) ?? '';

/** Nothing of a proof is left: no topic, no group, no process. */
export async function expectNothingLeft(rig: Rig, stage: string): Promise<void> {
  expect(stage).toMatch(new RegExp(`^${STAGE_PREFIX}`));
  expect(await rig.cluster.named(stage)).toEqual([]);
  expect(execFileSync('ps', ['-A', '-o', 'args'], { encoding: 'utf8' })).not.toContain(stage);
}
