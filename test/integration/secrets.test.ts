import { expect } from 'vitest';
import { stringify } from 'yaml';

import { readSettled } from '../helpers/read-settled.ts';
import type { Processor } from '../helpers/processor.ts';
import { it, type Rig } from '../helpers/rig.ts';
import { startSeeder } from '../helpers/seeder.ts';
import { startStubService } from '../helpers/stub-service.ts';

/** One for each place that a secret can come from. */
const SECRETS = {
  saslPassword: 'planted-sasl',
  clientSecret: 'planted-client',
  keyPassword: 'planted-key',
  databaseUrl: 'planted-database',
  bearerToken: 'planted-bearer',
  header: 'planted-header',
  property: 'planted-property',
  variable: 'planted-variable',
};
const PLANTED = /planted-\w+/;

/** Those that the process which runs is given; the others are with commands that fail. */
const GIVEN = [SECRETS.databaseUrl, SECRETS.bearerToken, SECRETS.header, SECRETS.property, SECRETS.variable];

/** Its messages tell all that it was given, as those of a careless library may. */
const CARELESS = `
const secrets = ${JSON.stringify(GIVEN.join(' '))};
class Careless extends Error { name = 'Careless-planted-property'; }
export default ({ value }, { logger }) => {
  logger.info({ secrets, nested: { secrets } }, 'given ' + secrets);
  throw new Careless('no access with ' + secrets, { cause: new Error(secrets) });
};
`;

interface Topics {
  readonly input: string;
  readonly headers: string;
  readonly json: string;
}

function configIn(rig: Rig, service: string, topics: Topics, workers: number) {
  const input = { topics: [topics.input] };
  const retry = { attempts: 2, minDelay: '20ms', maxDelay: '20ms' };
  const pipeline = (topic: string, format: string) => ({
    input,
    transform: './careless.mjs',
    outputs: { out: { topic: `${topics.input}.unused` } },
    deadLetter: { topic, format },
    retry,
    workers,
  });
  return {
    application: rig.name,
    kafka: {
      bootstrapServers: rig.bootstrapServers,
      properties: {
        'client.rack': '${MILLRACE_TEST_TOKEN}',
        'sasl.oauthbearer.assertion.private.key.passphrase': SECRETS.property,
      },
    },
    pipelines: { headers: pipeline(topics.headers, 'headers'), json: pipeline(topics.json, 'json') },
    effects: {
      told: {
        input,
        eventId: { coordinates: true },
        http: {
          url: `${service}/told`,
          bearerToken: SECRETS.bearerToken,
          headers: { 'x-api-key': '${file:header}' },
        },
        retry,
      },
      stored: {
        input,
        eventId: { coordinates: true },
        postgres: {
          url: `postgres://me:${SECRETS.databaseUrl}@127.0.0.1:1/none`,
          processedEvents: { statements: ['SELECT 1'] },
        },
        retry,
      },
    },
    log: { format: 'json', level: 'debug' },
  };
}

it.for([
  ['one process', 1],
  ['workers', 2],
] as const)('no secret of %s stands in any log, metric, status, dead letter or error', async ([, workers], { rig }) => {
  process.env['MILLRACE_TEST_TOKEN'] = SECRETS.variable;
  rig.onEnd(() => delete process.env['MILLRACE_TEST_TOKEN']);
  const input = await rig.topic('in', 1);
  await rig.topic('in.unused', 1);
  const topics = { input, headers: await rig.topic('headers', 1), json: await rig.topic('json', 1) };
  await rig.write('header', SECRETS.header);
  await rig.write('careless.mjs', CARELESS);
  const service = await startStubService();
  rig.onEnd(() => service.close());
  // Tells the caller what the caller told it.
  const echo = `no access with ${SECRETS.bearerToken} and ${SECRETS.header}`;
  service.always({ type: 'answer', status: 500, body: echo });

  const running = await rig.run('running', configIn(rig, service.url, topics, workers));
  const seeder = await startSeeder(rig.bootstrapServers, input);
  rig.onEnd(() => seeder.close());
  await seeder.send([{ key: null, value: Buffer.from('{}') }]);
  for (const what of [/dead-lettered/, /told.*500/, /stored.*ECONNREFUSED/]) await running.untilLogged(what);
  const letters = await running.until('both dead letters', async () => {
    const found = await readSettled(
      rig,
      [topics.headers, topics.json].map((topic) => ({ topic, partition: 0 })),
    );
    return found.length === 2 && found;
  });
  // Workers tell how they are once a second.
  await running.until('a held partition', async () => (await running.readiness())?.body.includes('status 500'));
  const pages = await Promise.all(
    ['/metrics', '/ready', '/status', '/overview'].map(async (path) => (await fetch(running.url(path))).text()),
  );

  const seen = [...running.log, ...pages, ...letters.map((letter) => textOf(letter))];
  for (const ended of await endedByErrors(rig, workers)) seen.push(...ended.log);
  expect(seen.filter((text) => PLANTED.test(text))).toEqual([]);
  // It is hidden, not absent: had nobody told it, this would have tried nothing.
  const [metrics, ready] = pages;
  for (const text of [running.log.join('\n'), metrics, ready, ...letters.map(textOf)])
    expect(text).toContain('[redacted]');
});

type Letter = Awaited<ReturnType<typeof readSettled>>[number];

const textOf = ({ value, headers }: Letter): string =>
  [value, ...headers.map(([, content]) => content)].map((bytes) => bytes?.toString() ?? '').join('\n');

/** Commands that fail, each with a secret in its hands. */
async function endedByErrors(rig: Rig, workers: number): Promise<readonly Processor[]> {
  await rig.write('failing.mjs', `throw new Error(${JSON.stringify(`no access with ${SECRETS.saslPassword}`)});\n`);
  await rig.write('unused.mjs', 'export default () => undefined;\n');
  const config = (name: string, transform: string, kafka: object) =>
    rig.write(
      `${name}.yaml`,
      stringify({
        application: rig.name,
        kafka: { bootstrapServers: rig.bootstrapServers, ...kafka },
        pipelines: { p: { input: { topics: ['a'] }, transform, outputs: { b: { topic: 'b' } }, workers } },
        log: { level: 'debug', format: 'json' },
      }),
    );
  const sasl = { mechanism: 'PLAIN', username: 'me', password: SECRETS.saslPassword };
  const oauth = { tokenEndpoint: 'http://127.0.0.1:1', clientId: 'me', clientSecret: SECRETS.clientSecret };
  const commands = [
    rig.command('run', await config('module', './failing.mjs', { sasl })),
    rig.command('check', await config('module', './failing.mjs', { sasl })),
    rig.command('check', '--connect', await config('sasl', './unused.mjs', { sasl })),
    rig.command(
      'check',
      '--connect',
      await config('oauth', './unused.mjs', { sasl: { mechanism: 'OAUTHBEARER', oauth } }),
    ),
    rig.command(
      'run',
      await config('tls', './unused.mjs', { tls: { ca: 'nowhere', keyPassword: SECRETS.keyPassword } }),
    ),
  ];
  for (const command of commands) {
    expect((await command.untilExit({ timeoutMs: 60_000 })).code, command.lastWords()).toBeGreaterThan(0);
    expect(command.log.join('')).not.toBe('');
  }
  return commands;
}
