import { describe, expect, vi } from 'vitest';

import { accessOf } from '../helpers/access.ts';
import { createAuthority } from '../helpers/authority.ts';
import { withBroker } from '../helpers/own-broker.ts';
import type { Fields } from '../helpers/pipeline-config.ts';
import type { Processor } from '../helpers/processor.ts';
import { rightsOf } from '../helpers/rights.ts';
import type { Rig } from '../helpers/rig.ts';
import { startScenario } from '../helpers/scenario.ts';
import { PASSWORDS, REAUTHENTICATE_MS, startSecureBroker, type SecureBroker } from '../helpers/secure-broker.ts';
import { workload } from '../helpers/workload.ts';

const it = withBroker(startSecureBroker);

const SCRAM_PASSWORD = 'scram-secret-53';
const KEY_PASSWORD = 'key-secret-61';

/** `kafka` in a configuration, in each way to be known to the broker. The user has the way's name. */
async function waysIn({ authority, sasl, mutual, tokens }: SecureBroker, rig: Rig) {
  const { ca } = authority;
  await rig.write('scram-password', `${SCRAM_PASSWORD}\n`);
  await rig.write('oauth-secret', PASSWORDS.oauth);
  await rig.write('key-password', KEY_PASSWORD);
  vi.stubEnv('MILLRACE_TEST_PLAIN', PASSWORDS.plain);
  const bySasl = (credentials: Fields) => ({ kafka: { bootstrapServers: sasl, tls: { ca }, sasl: credentials } });
  const oauth = { tokenEndpoint: tokens.url, clientId: 'oauth', clientSecret: '${file:oauth-secret}', ca };
  const client = authority.issue('mutual', KEY_PASSWORD);
  return {
    plain: bySasl({ mechanism: 'PLAIN', username: 'plain', password: '${MILLRACE_TEST_PLAIN}' }),
    scram: bySasl({ mechanism: 'SCRAM-SHA-512', username: 'scram', password: '${file:scram-password}' }),
    oauth: bySasl({ mechanism: 'OAUTHBEARER', oauth }),
    mutual: { kafka: { bootstrapServers: mutual, tls: { ca, ...client, keyPassword: '${file:key-password}' } } },
  };
}

/** The line that tells why a process ended; there is one only, and no stack trace around it. */
async function reasonOf(processor: Processor): Promise<string> {
  // One that a broker does not let leave its group is killed.
  expect((await processor.untilExit({ timeoutMs: 60_000 })).code, processor.lastWords()).not.toBe(0);
  const [first = '', ...others] = processor.log.filter((line) => line.includes('"level":"fatal"'));
  expect(others.map((line) => line.replace('stopped: ', '').replace(/"time":"[^"]*"/, ''))).toEqual([
    first.replace(/"time":"[^"]*"/, ''),
  ]);
  expect(processor.log.join('\n')).not.toMatch(/^\s+at /m);
  return first;
}

/** What `millrace check --connect` complains of; it is one thing only. */
async function complaintOf(rig: Rig, instance: string): Promise<string> {
  const check = rig.command('check', '--connect', `${instance}.yaml`);
  expect(await check.untilExit({ timeoutMs: 60_000 }), check.lastWords()).toEqual({ code: 2, signal: null });
  const [error = '', ...others] = check.log.filter((line) => line.startsWith('error'));
  expect(others).toEqual([]);
  return error;
}

it('runs exactly once over TLS with each kind of credentials, and on while these are asked for again', async ({
  rig,
  broker,
}) => {
  const ways = await waysIn(broker, rig);
  const access = accessOf(broker.bootstrapServers);
  await access.setPassword('scram', SCRAM_PASSWORD);
  const run = await startScenario(rig);
  for (const user of Object.keys(ways)) await access.allow(...Object.values(rightsOf(user, user, run)));

  const processors = await Promise.all(Object.entries(ways).map(([user, own]) => run.startReady(user, own)));
  const ready = Date.now();
  const feed = run.seeder.feed(workload(), 300);
  await run.untilCommitted(300);
  const checked = async (user: string): Promise<void> => {
    const check = rig.command('check', '--connect', `${user}.yaml`);
    expect((await check.untilExit({ timeoutMs: 60_000 })).code, check.lastWords()).toBe(0);
    expect(check.log).toContain(`ok           pipeline p: Write on transactional id ${run.group}.${user}.0`);
  };
  await Promise.all(Object.keys(ways).map(checked));
  // A password that is changed meanwhile is asked for, too. All others have shown theirs several times by then.
  await access.setPassword('scram', 'rotated-67');
  const [byScram, ...others] = [processors[1]!, ...processors.filter((_, index) => index !== 1)];
  expect(await reasonOf(byScram)).toContain('kafka.sasl is refused by the brokers');
  const sessions = Math.floor((Date.now() - ready) / REAUTHENTICATE_MS);
  expect(sessions).toBeGreaterThanOrEqual(2);
  for (const processor of others) {
    // Without an answer each session would end with its connection, and cost a producer.
    const metrics = await processor.metrics();
    expect(metrics?.sum('millrace_producer_recycles_total'), processor.lastWords()).toBeLessThan(sessions / 2);
    expect(metrics?.sum('millrace_records_committed_total')).toBeGreaterThan(0);
  }

  // The file is read again at the next start.
  await rig.write('scram-password', 'rotated-67');
  await run.startReady('scram', ways.scram);
  await feed.stop();
  await run.judge();
});

describe('a right that is missing', () => {
  it('ends a run with one line that names it, at the start and when it is taken away, and is found by a check', async ({
    rig,
    broker,
  }) => {
    const access = accessOf(broker.bootstrapServers);
    const run = await startScenario(rig);
    const instances = ['input', 'left', 'deadLetters', 'group', 'transactionalId'] as const;
    const expected = {
      input: `Read on topic ${run.input} is denied`,
      left: `Write on topic ${run.outputs.left} is denied`,
      deadLetters: `Write on topic ${run.deadLetters} is denied`,
      group: `Read on group ${run.group} is denied`,
      transactionalId: `Write on transactional id ${run.group}.transactionalId.0 is denied`,
    };
    const start = (instance: keyof typeof expected): Promise<Processor> =>
      run.start(instance, asUser(broker, instance));
    for (const instance of instances) {
      await access.setPassword(instance, SCRAM_PASSWORD);
      const { [instance]: lacking, ...others } = rightsOf(instance, instance, run);
      // To see a topic is not enough.
      await access.allow(...Object.values(others), { ...lacking, operation: 'describe' });
    }
    const denied = await Promise.all(instances.map(start));
    const complaints = await Promise.all(instances.map((instance) => complaintOf(rig, instance)));
    for (const [index, instance] of instances.entries()) {
      expect(await reasonOf(denied[index]!)).toContain(`pipeline p: ${expected[instance]}`);
      expect(complaints[index]).toContain(`pipeline p: ${expected[instance]}`);
      await access.allow(rightsOf(instance, instance, run)[instance]);
    }

    const started = await Promise.all(instances.map(start));
    for (const processor of started) await processor.untilReady();
    const feed = run.seeder.feed(workload(), 300);
    await run.untilCommitted(300);
    for (const instance of instances) await access.disallow(rightsOf(instance, instance, run)[instance]);
    for (const [index, instance] of instances.entries()) {
      expect(await reasonOf(started[index]!)).toContain(`pipeline p: ${expected[instance]}`);
      await access.allow(rightsOf(instance, instance, run)[instance]);
    }
    await run.startReady('left', asUser(broker, 'left'));
    await feed.stop();
    await run.judge();
  });
});

it('names in the last line of a supervisor what its workers are refused', async ({ rig, broker }) => {
  const access = accessOf(broker.bootstrapServers);
  const run = await startScenario(rig, { pipeline: { workers: 2 } });
  for (const user of ['second', 'password']) {
    await access.setPassword(user, SCRAM_PASSWORD);
    await access.allow(...Object.values(rightsOf(user, user, run))); // of their workers the first only
  }
  const [second, password] = await Promise.all([
    run.start('second', asUser(broker, 'second')),
    run.start('password', asUser(broker, 'password', 'wrong')),
  ]);
  const lastLine = async (processor: Processor): Promise<string | undefined> => {
    expect((await processor.untilExit({ timeoutMs: 60_000 })).code, processor.lastWords()).toBe(1);
    return processor.log.at(-1);
  };
  expect(await lastLine(second)).toContain(`Write on transactional id ${run.group}.second.1 is denied to this user`);
  expect(await lastLine(password)).toContain('kafka.sasl is refused by the brokers');
  expect(await complaintOf(rig, 'second')).toContain(`Write on transactional id ${run.group}.second.1 is denied`);
});

const asUser = ({ sasl, authority }: SecureBroker, username: string, password = SCRAM_PASSWORD): Fields => ({
  kafka: {
    bootstrapServers: sasl,
    tls: { ca: authority.ca },
    sasl: { mechanism: 'SCRAM-SHA-512', username, password },
  },
});

describe('brokers that refuse us, or that we refuse', () => {
  it('end a run and a check with one line that names what does not fit', async ({ rig, broker }) => {
    const run = await startScenario(rig);
    const { kafka } = (await waysIn(broker, rig)).plain;
    const stranger = createAuthority('another authority');
    rig.onEnd(() => stranger.remove());
    const start = (instance: string, own: Fields): Promise<Processor> =>
      run.start(instance, { kafka: { ...kafka, ...own } });
    const oauth = {
      tokenEndpoint: broker.tokens.url,
      clientId: 'oauth',
      clientSecret: 'wrong',
      ca: broker.authority.ca,
    };
    const processors = await Promise.all([
      start('password', { sasl: { mechanism: 'PLAIN', username: 'plain', password: 'wrong' } }),
      start('mechanism', { sasl: { mechanism: 'SCRAM-SHA-256', username: 'plain', password: 'wrong' } }),
      start('secret', { sasl: { mechanism: 'OAUTHBEARER', oauth } }),
      start('authority', { tls: { ca: stranger.ca } }),
      run.start('certificate', { kafka: { bootstrapServers: broker.mutual, tls: { ca: broker.authority.ca } } }),
      start('address', { bootstrapServers: broker.sasl.replace('127.0.0.1', 'localhost') }),
    ]);
    const instances = ['password', 'mechanism', 'secret', 'authority', 'certificate', 'address'];
    const complaints = Promise.all(instances.map((instance) => complaintOf(rig, instance)));
    const reasons = await Promise.all(processors.map(reasonOf));
    const expected = [
      expect.stringContaining('kafka.sasl is refused by the brokers: SASL authentication error: Authentication failed'),
      expect.stringContaining('kafka.sasl is refused by the brokers: SASL SCRAM-SHA-256 mechanism handshake failed'),
      expect.stringMatching(/kafka\.sasl\.oauth gets no access token: .*\(401\)/),
      expect.stringMatching(
        /kafka\.tls does not fit the brokers: .*certificate verify failed.*: see that kafka\.tls\.ca/,
      ),
      expect.stringMatching(
        /kafka\.tls does not fit the brokers: .*alert bad certificate.*: see kafka\.tls\.certificate/,
      ),
      expect.stringMatching(/kafka\.tls does not fit the brokers: .* for this name in kafka\.bootstrapServers/),
    ];
    expect(reasons).toEqual(expected);
    expect(await complaints).toEqual(expected);
  });
});
