import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { expect } from 'vitest';

import { feed, flightRecords } from '../../dev/demo/flights.ts';
import type { ReachableBroker } from '../../dev/demo/kept-broker.ts';
import { createTopics, deleteTopics, inputPartitions, readOutputs } from '../../dev/demo/topics.ts';
import { STAGE_PREFIX } from '../../src/prove/stage.ts';
import { expectNothingLeft, provable, stageOf, verdictOf } from '../helpers/proofs.ts';
import { it } from '../helpers/rig.ts';

const FLIGHTS = fileURLToPath(new URL('../../config/flights.yaml', import.meta.url));
const PACKAGE = new URL('../../package.json', import.meta.url).href;
const PATIENCE = { timeoutMs: 110_000 };

it('proves the flights exactly once while workers are killed, frozen and rebalanced, and touches none of their topics', async ({
  rig,
}) => {
  const broker: ReachableBroker = { bootstrapServers: rig.bootstrapServers, withCluster: (work) => work(rig.cluster) };
  await createTopics(broker);
  rig.onEnd(() => deleteTopics(rig.cluster));
  await feed(broker, flightRecords().slice(0, 8_000));
  const before = await rig.cluster.ends(inputPartitions);

  const to = ['--bootstrap-servers', rig.bootstrapServers];
  const proof = rig.command('prove', FLIGHTS, '--pipeline', 'route-flights', '--for', '20s', ...to);
  const stage = await stageOf(proof);
  expect(await proof.untilExit(PATIENCE), proof.lastWords()).toEqual({ code: 0, signal: null });
  expect(verdictOf(proof)).toMatch(
    /^verdict: exactly once: [1-9]\d* kills \([1-9]\d* in an open transaction\), [1-9]\d* freezes, [1-9]\d* rebalances, and each of [1-9]\d* records/,
  );

  await expectNothingLeft(rig, stage);
  expect(await rig.cluster.ends(inputPartitions)).toEqual(before);
  expect(await rig.cluster.committed('flights.route-flights', inputPartitions)).toEqual(new Map());
  expect(await readOutputs(broker, 'read_uncommitted')).toEqual([]);
});

it('says "NOT exactly once" of a transform that writes past the transaction, and that its results can not be foretold', async ({
  rig,
}) => {
  // Each record's first output once more, by a producer of its own, and as if the pipeline had written it.
  const transform = `
import { createRequire } from 'node:module';
const { Producer } = createRequire('${PACKAGE}')('@confluentinc/kafka-javascript');
const at = process.argv.indexOf('--stage');
const stage = at < 0 ? undefined : JSON.parse(process.argv[at + 1]).stage.name;
const producer = new Producer({ 'bootstrap.servers': '${rig.bootstrapServers}' }, {});
if (stage) await new Promise((connected) => producer.connect({}, connected));
export default ({ value }, { source: { topic, partition, offset } }) => {
  const random = Math.random();
  if (stage && offset % 100 === 7) {
    const headers = [{ 'millrace-source': [stage, topic].join('.') + '/' + partition + '/' + offset }, { 'millrace-attempt': 'x/1.0/1/0/2' }];
    producer.produce(stage + '.${rig.name}.left', 0, Buffer.from('{}'), null, Date.now(), null, headers);
  }
  return [{ to: 'left', value: { random } }, { to: 'right', value: { random } }];
};
`;
  const file = await provable(rig, {
    transform,
    pipeline: { deadLetter: { topic: `${rig.name}.dead`, format: 'json' } },
  });
  const proof = rig.command('prove', file, '-p', 'p', '--for', '10s');
  const stage = await stageOf(proof);
  expect(await proof.untilExit(PATIENCE), proof.lastWords()).toEqual({ code: 1, signal: null });
  expect(verdictOf(proof)).toMatch(/^verdict: NOT exactly once: .*I1: \d+/);
  const text = proof.log.join('\n');
  expect(text).toMatch(new RegExp(`I1 ${stage}\\.${rig.name}\\.in/\\d/\\d*7 \\(undetermined\\) has output 0 2 times`));
  expect(text).toMatch(/the transform is not deterministic: \d+ records/);
  await expectNothingLeft(rig, stage);
});

it('deletes what it has created when it is interrupted, and says so', async ({ rig }) => {
  const proof = rig.command('prove', await provable(rig), '-p', 'p', '--for', '10m');
  const stage = await stageOf(proof);
  await proof.untilLogged(/hurts them/, { timeoutMs: 60_000 });
  expect(await rig.cluster.named(stage)).not.toEqual([]);
  proof.signal('SIGINT');
  expect(await proof.untilExit(), proof.lastWords()).toEqual({ code: 130, signal: null });
  expect(proof.log.join('\n')).toContain(`deletes ${stage}.* and the group ${stage}`);
  await expectNothingLeft(rig, stage);
});

it('refuses what it can not prove, with the remedy, and creates nothing', async ({ rig }) => {
  const file = await provable(rig, { records: 0 });
  const refused = async (...args: string[]): Promise<string> => {
    const proof = rig.command('prove', ...args);
    expect(await proof.untilExit(), proof.lastWords()).toEqual({ code: 2, signal: null });
    const text = proof.log.join('\n');
    expect(text).not.toMatch(/^\s+at /m);
    return text;
  };
  expect(await refused(file)).toContain('--pipeline');
  expect(await refused(file, '-p', 'q')).toMatch(/no pipeline q; it has p/);
  expect(await refused(file, '-p', 'p', '--for', 'soon')).toContain('10s to 24h');
  expect(await refused(file, '-p', 'p', '--records', '0')).toContain('1 to 1000000');
  expect(await refused(file, '-p', 'p')).toMatch(new RegExp(`${rig.name}\\.in has no records .*--bootstrap-servers`));
  const misspelt = (await readFile(file, 'utf8')).replace(`${rig.name}.right`, `${rig.name}.rihgt`);
  expect(await refused(await rig.write('misspelt.yaml', misspelt), '-p', 'p')).toContain(
    `topic ${rig.name}.rihgt not found`,
  );
  await rig.write('transform.mjs', 'export default 1;');
  expect(await refused(file, '-p', 'p')).toContain('its default export is not a function');
  expect(await rig.cluster.named(STAGE_PREFIX)).toEqual([]);
});
