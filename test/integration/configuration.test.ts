import { expect } from 'vitest';

import { COPY } from '../helpers/copy.ts';
import type { Processor } from '../helpers/processor.ts';
import { it, type Rig } from '../helpers/rig.ts';
import { startScenario } from '../helpers/scenario.ts';

const REFUSED = { code: 2, signal: null };
const SECRET = 'kept-in-a-file-17';

/** All that it printed. A refusal that quotes a secret, or shows where in the product it was thrown, is none. */
async function refusal(processor: Processor): Promise<string> {
  expect(await processor.untilExit(), processor.lastWords()).toEqual(REFUSED);
  const text = processor.log.join('\n');
  expect(text).not.toContain(SECRET);
  expect(text).not.toMatch(/^\s+at .*\/dist\//m);
  return text;
}

async function runFile(rig: Rig, content: string): Promise<Processor> {
  await rig.write('secret', `${SECRET}\n`);
  await rig.write('copy.mjs', COPY);
  return rig.command('run', await rig.write('millrace.yaml', content));
}

const yaml = ({ application = 'app', password = '${file:./secret}', pipeline = '' } = {}): string => `
application: ${application}
kafka:
  bootstrapServers: 127.0.0.1:1
  sasl:
    mechanism: PLAIN
    username: me
    password: ${password}
pipelines:
  copy:
    input: { topics: [in] }
    transform: ./copy.mjs
    outputs:
      left: { topic: left }
      right: { topic: right }
${pipeline}`;

it('G1: refuses what is no YAML, with file, line and column', async ({ rig }) => {
  const text = await refusal(await runFile(rig, 'application: app\npipelines: [copy\nhttp: {}\n'));
  expect(text).toMatch(/millrace\.yaml:[23]:\d+/);
});

it('G1: names every problem with file, line, field and remedy, all at once', async ({ rig }) => {
  const content = yaml({ pipeline: '    retry: { atempts: 3, minDelay: fast }\n    deadLetter: {}\n' });
  const lines = content.split('\n');
  const line = (text: string): number => 1 + lines.findIndex((found) => found.includes(text));
  const text = await refusal(await runFile(rig, content));
  expect(text).toMatch(new RegExp(`millrace\\.yaml:${line('retry:')}:\\d+.*atempts.*attempts`));
  expect(text).toMatch(new RegExp(`millrace\\.yaml:${line('retry:')}:\\d+.*minDelay`));
  expect(text).toMatch(new RegExp(`millrace\\.yaml:${line('deadLetter:')}:\\d+.*topic`));
});

it('G1: names an unset variable, and prints nothing of the secrets beside it', async ({ rig }) => {
  const text = await refusal(await runFile(rig, yaml({ application: '${MILLRACE_TEST_UNSET}' })));
  expect(text).toMatch(/millrace\.yaml:2:\d+.*MILLRACE_TEST_UNSET/);
});

it('G1: takes a `$` in a password for a mistake unless it is written twice', async ({ rig }) => {
  const text = await refusal(await runFile(rig, yaml({ password: `pa\${ss-${SECRET}` })));
  expect(text).toMatch(/millrace\.yaml:8:\d+/);
  const check = rig.command('check', await rig.write('good.yaml', yaml({ password: 'pa$$word' })));
  expect(await check.untilExit(), check.lastWords()).toEqual({ code: 0, signal: null });
});

it('G1: accepts a secret file that ends with a newline', async ({ rig }) => {
  await rig.write('secret', `${SECRET}\n`);
  await rig.write('copy.mjs', COPY);
  const check = rig.command('check', await rig.write('good.yaml', yaml()));
  expect(await check.untilExit(), check.lastWords()).toEqual({ code: 0, signal: null });
  expect(check.log.join('\n')).not.toContain(SECRET);
});

it('G5: rejects an output topic that is an input, and a dead-letter topic that is one', async ({ rig }) => {
  const output = yaml().replace('left: { topic: left }', 'left: { topic: in }');
  expect(await refusal(await runFile(rig, output))).toMatch(/millrace\.yaml:\d+:\d+.*left.*\bin\b/);
  const letters = yaml({ pipeline: '    deadLetter: { topic: in }\n' });
  expect(await refusal(await runFile(rig, letters))).toMatch(/millrace\.yaml:\d+:\d+.*deadLetter.*\bin\b/);
});

it('refuses a setting that would weaken the guarantee, with the reason', async ({ rig }) => {
  const content = yaml({ pipeline: '    consumer: { properties: { isolation.level: read_uncommitted } }\n' });
  expect(await refusal(await runFile(rig, content))).toMatch(/isolation\.level/);
});

it('says which transform can not be loaded, and why', async ({ rig }) => {
  const missing = await refusal(await runFile(rig, yaml().replace('./copy.mjs', './nowhere.ts')));
  expect(missing).toContain('nowhere.ts');
  await rig.write('broken.ts', 'export default (record => {\n  return record\n');
  const broken = await refusal(await runFile(rig, yaml().replace('./copy.mjs', './broken.ts')));
  expect(broken).toMatch(/broken\.ts:\d+/);
  await rig.write('nameless.ts', 'export const transform = () => undefined;\n');
  const nameless = await refusal(await runFile(rig, yaml().replace('./copy.mjs', './nameless.ts')));
  expect(nameless).toMatch(/nameless\.ts.*default/);
});

it('names a topic that does not exist, and exits', async ({ rig }) => {
  const run = await startScenario(rig, {
    transform: COPY,
    pipeline: { deadLetter: { topic: `${rig.name}.no-such-topic` } },
  });
  const processor = await run.start('a');
  expect(await processor.untilExit()).toEqual({ code: 1, signal: null });
  expect(processor.log.join('\n')).toContain(`${rig.name}.no-such-topic`);
});

it('says that no broker answers at a wrong address, stays unready, and ends at once when it is told to', async ({
  rig,
}) => {
  const run = await startScenario(rig, {
    transform: COPY,
    config: { kafka: { bootstrapServers: '127.0.0.1:1' } },
  });
  const processor = await run.start('a');
  const line = await processor.untilLogged(/127\.0\.0\.1:1\b/);
  expect(line).toMatch(/broker|connect/i);
  expect((await processor.readiness())?.status).toBe(503);
  processor.signal('SIGTERM');
  expect(await processor.untilExit()).toEqual({ code: 0, signal: null });
});

it('tells the place in the source of a transform that throws, and what becomes of its record', async ({ rig }) => {
  const source = `interface Flight { delay: number }\n\nexport default ({ value }: { value: Flight }) => {\n  throw new Error('no such desk ' + value.delay);\n};\n`;
  const run = await startScenario(rig, { transform: source, expect: () => () => ({ kind: 'dead-letter' }) });
  const processor = await run.startReady('a');
  await run.seeder.send([{ key: null, value: Buffer.from('{"delay":7}') }]);
  await run.judge();
  const text = processor.log.join('\n');
  expect(text).toContain('no such desk 7');
  expect(text).toMatch(/transform\.ts:4:\d+/);
  expect(text).toContain('dead-lettered');
});
