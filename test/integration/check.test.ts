import { expect } from 'vitest';
import { stringify } from 'yaml';

import { COPY } from '../helpers/copy.ts';
import { pipelineConfig } from '../helpers/pipeline-config.ts';
import type { Processor } from '../helpers/processor.ts';
import { it } from '../helpers/rig.ts';

const OAUTH = {
  mechanism: 'OAUTHBEARER',
  oauth: { tokenEndpoint: 'http://127.0.0.1:1', clientId: 'me', clientSecret: 'unused' },
};

/** What was found with a verdict. */
const found = ({ log }: Processor, verdict: string): string[] =>
  log.filter((line) => line.startsWith(verdict)).map((line) => line.slice('not checked  '.length));

it('tells by `check --connect` what a cluster lacks for a configuration, a line for each, and what puts it at risk', async ({
  rig,
}) => {
  const input = await rig.topic('in', 3);
  const left = await rig.topic('left', 1, { 'max.message.bytes': '2000' });
  const right = `${rig.name}.right`;
  const deadLetters = await rig.topic('dead', 2);
  const desk = await rig.topic('desk', 1);
  await rig.write('copy.mjs', COPY);
  const effect = {
    input: { topics: [left] },
    http: { url: 'http://127.0.0.1:1/desk' },
    eventId: { coordinates: true },
    deadLetter: { topic: desk },
  };
  const config = pipelineConfig({
    application: rig.name,
    pipeline: 'p',
    bootstrapServers: rig.bootstrapServers,
    input,
    outputs: { left, right },
    deadLetters,
    transform: './copy.mjs',
    own: { pipeline: { transaction: { timeout: '20m' }, workers: 2 }, config: { effects: { e: effect } } },
  });
  const check = rig.command('check', '--connect', await rig.write('c.yaml', stringify({ instance: 'a', ...config })));
  expect(await check.untilExit(), check.lastWords()).toEqual({ code: 2, signal: null });
  expect(found(check, 'ok')).toEqual([
    `${rig.bootstrapServers} answers: 1 broker, no encryption, no credentials`,
    `pipeline p: Read on topic ${input}, 3 partitions`,
    `pipeline p: Write on topic ${left}, 1 partition`,
    `pipeline p: Write on topic ${deadLetters}, 2 partitions`,
    `pipeline p: Read on group ${rig.name}.p`,
    `pipeline p: Write on transactional id ${rig.name}.p.a.0`,
    `pipeline p: Write on transactional id ${rig.name}.p.a.1`,
    `effect e: Read on topic ${left}, 1 partition`,
    `effect e: Write on topic ${desk}, 1 partition`,
    `effect e: Read on group ${rig.name}.e`,
    `effect e: Write on transactional id ${rig.name}.e.a.0`,
    expect.stringMatching(
      /^effect e: transaction\.timeout \d+ ms is within the brokers' transaction\.max\.timeout\.ms/,
    ),
  ]);
  expect(found(check, 'error')).toEqual([
    `pipeline p: topic ${right} not found: create it, or mend the name in the configuration`,
    expect.stringContaining("transaction.timeout 1200000 ms is above the brokers' transaction.max.timeout.ms, 900000"),
  ]);
  const warnings = found(check, 'warning');
  expect(warnings[0]).toContain(`topic ${left} takes records of at most 2000 bytes`);
  for (const topic of [input, left, deadLetters, desk])
    expect(warnings).toContainEqual(expect.stringContaining(`topic ${topic} has one replica`));
});

it.for([
  ['no broker answers', {}, /^no broker answers at 127\.0\.0\.1:1 \(kafka\.bootstrapServers\): .*refused/],
  ['no identity provider answers', { sasl: OAUTH }, /^kafka\.sasl\.oauth gets no access token: /],
] as const)('ends `check --connect` with exit code 1 and one error where %s', async ([, own, error], { rig }) => {
  await rig.write('copy.mjs', COPY);
  const config = {
    application: rig.name,
    kafka: { bootstrapServers: '127.0.0.1:1', tls: {}, ...own },
    pipelines: { p: { input: { topics: ['in'] }, transform: './copy.mjs', outputs: { out: { topic: 'out' } } } },
  };
  const check = rig.command('check', '--connect', await rig.write('c.yaml', stringify(config)));
  expect(await check.untilExit({ timeoutMs: 60_000 }), check.lastWords()).toEqual({ code: 1, signal: null });
  expect(found(check, 'error')).toEqual([expect.stringMatching(error)]);
});
