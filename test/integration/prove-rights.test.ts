import { expect } from 'vitest';

import { STAGE_PREFIX } from '../../src/prove/stage.ts';
import { accessOf, type Acl } from '../helpers/access.ts';
import { withBroker } from '../helpers/own-broker.ts';
import { expectNothingLeft, provable, stageOf, verdictOf } from '../helpers/proofs.ts';
import { startSecureBroker } from '../helpers/secure-broker.ts';

const it = withBroker(startSecureBroker);

const user = 'prover';
const PASSWORD = 'prover-secret-71';

it('names the rights that a proof needs, and makes it with no more than those, over TLS', async ({ rig, broker }) => {
  const access = accessOf(broker.bootstrapServers);
  await access.setPassword(user, PASSWORD);
  const onTopic = (name: string, operation: Acl['operation']): Acl => ({ user, resource: 'topic', name, operation });
  await access.allow(
    onTopic(`${rig.name}.in`, 'read'),
    ...['left', 'right', 'dead'].map((name) => onTopic(`${rig.name}.${name}`, 'describe')),
  );
  const sasl = { mechanism: 'SCRAM-SHA-512', username: user, password: PASSWORD };
  const kafka = { bootstrapServers: broker.sasl, tls: { ca: broker.authority.ca }, sasl };
  const file = await provable(rig, { config: { kafka } });

  const denied = rig.command('prove', file, '-p', 'p', '--for', '20s');
  expect(await denied.untilExit({ timeoutMs: 60_000 }), denied.lastWords()).toEqual({ code: 2, signal: null });
  const text = denied.log.join('\n');
  expect(text).toMatch(/authorization failed/i);
  expect(text).toMatch(new RegExp(`rights on all names that begin with ${STAGE_PREFIX}: Create`));
  expect(await rig.cluster.named(STAGE_PREFIX)).toEqual([]);

  const onStage = (resource: Acl['resource'], ...operations: Acl['operation'][]): Acl[] =>
    operations.map((operation) => ({ user, resource, name: STAGE_PREFIX, operation, isPrefix: true }));
  await access.allow(
    ...onStage('topic', 'create', 'read', 'write', 'delete'),
    ...onStage('group', 'read', 'delete'),
    ...onStage('transactionalId', 'write'),
  );
  const proof = rig.command('prove', file, '-p', 'p', '--for', '20s');
  const stage = await stageOf(proof);
  expect(await proof.untilExit({ timeoutMs: 110_000 }), proof.lastWords()).toEqual({ code: 0, signal: null });
  expect(verdictOf(proof)).toMatch(/^verdict: exactly once/);
  await expectNothingLeft(rig, stage);
});
