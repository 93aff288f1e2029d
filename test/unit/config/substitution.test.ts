import { describe, expect, it } from 'vitest';
import { ConfigFolder, load, pipelineWith, problems, topLevelWith } from './configuration-file.ts';

/** What becomes of a text, in a field that takes any. */
function substituted(text: string, env: Readonly<Record<string, string>> = {}): string {
  return load(topLevelWith(`http:`, `  host: ${text}`), env).http.host;
}

describe('variables', () => {
  it.each([
    ['${HOST}', 'gate'],
    ['${HOST:-other}', 'gate'],
    ['${UNSET:-other}', 'other'],
    ['${EMPTY:-other}', 'other'],
    ['${UNSET:-}x', 'x'],
    ['${UNSET:-a:-b}', 'a:-b'],
    ['${HOST}.${UNSET:-example}.com', 'gate.example.com'],
    ['"${HOST}"', 'gate'],
    ["'${HOST}'", 'gate'],
    ['a$$b', 'a$b'],
    ['$${HOST}', '${HOST}'],
    ['$$$${HOST}', '$${HOST}'],
    ['$HOST', '$HOST'],
    ['costs $5 or 5$', 'costs $5 or 5$'],
  ])('makes of %s: %s', (text, value) => {
    expect(substituted(text, { HOST: 'gate', EMPTY: '' })).toBe(value);
  });

  it('are not looked for in comments and keys', () => {
    const yaml = topLevelWith('# ${UNSET}', '"${UNSET}": {}');
    expect(problems(yaml)).toEqual([
      expect.stringMatching(/^flights.yaml:12:1 {2}\$\{UNSET\}: unknown field, allowed: /),
    ]);
  });

  it.each([
    'pa$$word',
    '${HOST}',
    '$',
    '$${A}',
    'a: b',
    '[1, 2]',
    '{ level: debug }',
    '"',
    '#',
    '*x',
    '\n- x\n',
    'true',
    '007',
  ])('keep their value as it is: %j is neither expanded again nor taken for YAML', (value) => {
    expect(substituted('${VALUE}', { VALUE: value, HOST: 'gate' })).toBe(value);
  });

  it('become numbers, true/false, durations, sizes and choices where the field wants them, in quotes or not', () => {
    const config = load(
      topLevelWith(
        'http: { port: "${PORT}" }',
        'log:',
        '  level: ${LEVEL}',
        'shutdown:',
        '  grace: ${GRACE:-10}s',
      ).replace('    outputs:', '    provenance: ${PROOF}\n    transaction: { maxBytes: "${SIZE}" }\n    outputs:'),
      { PORT: '9090', LEVEL: 'warn', PROOF: 'true', SIZE: '1MiB' },
    );
    expect(config).toMatchObject({ http: { port: 9090 }, log: { level: 'warn' }, shutdown: { graceMs: 10_000 } });
    expect(config.pipelines[0]).toMatchObject({ provenance: true, transaction: { maxBytes: 1_048_576 } });
  });

  it('stay text where the field wants text', () => {
    expect(load(topLevelWith('instance: ${ID}'), { ID: '0042' }).instance).toBe('0042');
  });
});

describe('what is wrong with a variable', () => {
  it.each([
    ['${PORT}', 'the variable PORT is not set: set it, give a default with ${PORT:-…}, or write $$ for a plain $'],
    ['${PORT', 'a ${ has no closing }'],
    ['${A:-${PORT}}', 'a default can not hold another ${…}'],
    [
      '${}',
      '"${" is followed by something that is not a variable\'s name: use ${VAR}, ${VAR:-default} or ${file:path}, and $$ for a plain $',
    ],
    ['${1A}', expect.stringContaining('not a variable')],
    ['${A-b}', expect.stringContaining('not a variable')],
    ['${A B}', expect.stringContaining('not a variable')],
    ['${env:A}', expect.stringContaining('not a variable')],
  ])('is told of %s once, and nothing more is said of the field', (text, message) => {
    const found = problems(topLevelWith('http:', `  port: ${text}`)).map((line) =>
      /^(flights.yaml:12:9 {2}http.port: )(.*)$/.exec(line),
    );
    expect(found.map((parts) => parts?.[2])).toEqual([message]);
  });

  it('is told of all variables', () => {
    const yaml = topLevelWith('instance: ${B}', 'shutdown: { grace: "${C}" }').replace('localhost:9092', '${A}:${B}');
    expect(problems(yaml).map((line) => line.split(':', 3).join(':'))).toEqual([
      'flights.yaml:3:21  kafka.bootstrapServers',
      'flights.yaml:3:21  kafka.bootstrapServers',
      'flights.yaml:11:11  instance',
      'flights.yaml:12:20  shutdown.grace',
    ]);
  });

  it('names the variable that a wrong value came from', () => {
    expect(problems(topLevelWith('http:', '  port: ${PORT}'), { PORT: 'http' })).toEqual([
      'flights.yaml:12:9  http.port: found "http" (from ${PORT}), allowed: a whole number from 0 to 65535',
    ]);
  });
});

describe('files', () => {
  it.each([
    ['one newline at the end is left out', 'gate\n', 'gate'],
    ['so is that of Windows', 'gate\r\n', 'gate'],
    ['no more than one', 'gate\n\n', 'gate\n'],
    ['blanks stay', ' gate ', ' gate '],
    ['it is not expanded', 'ga$$te ${HOST}\n', 'ga$$te ${HOST}'],
  ])('are read: %s', (_, text, value) => {
    const folder = new ConfigFolder(topLevelWith('http:', '  host: ${file:./host}'), { host: text });
    expect(folder.load().http.host).toBe(value);
  });

  it('are found by an absolute path as well', () => {
    const { path } = new ConfigFolder('', { host: 'gate' });
    expect(load(topLevelWith('http:', `  host: \${file:${path}/host}`)).http.host).toBe('gate');
  });

  it('must be there, and be files', () => {
    const folder = new ConfigFolder(topLevelWith('http:', '  host: ${file:nope}', 'log:', '  level: ${file:.}'));
    expect(folder.problems()).toEqual([
      'flights.yaml:12:9  http.host: ${file:nope} can not be read (no such file): see that the file is there and readable',
      'flights.yaml:14:10  log.level: ${file:.} can not be read (it is a folder): see that the file is there and readable',
    ]);
  });
});

describe('secrets', () => {
  const PROPERTIES = ['producer:', '  properties:', '    client.rack: a'];

  it('are collected from files, telling variables and telling properties, and from nothing else', () => {
    const folder = new ConfigFolder(
      pipelineWith(
        'producer:',
        '  properties:',
        '    sasl.oauthbearer.assertion.private.key.passphrase: ${file:password}',
        '    ssl.keystore.location: /etc/key.p12',
        '    client.rack: ${RACK}-${API_TOKEN}',
        '    ssl.keystore.password: "00042"',
      ),
      { password: 'hunter2\n' },
    );
    const { secrets, pipelines } = folder.load({ RACK: 'rack-1', API_TOKEN: 't0ken' });
    expect([...secrets].sort()).toEqual(['00042', 'hunter2', 't0ken']);
    expect(pipelines[0]?.producerProperties).toMatchObject({
      'sasl.oauthbearer.assertion.private.key.passphrase': 'hunter2',
      'client.rack': 'rack-1-t0ken',
    });
  });

  it('are the password in a URL as well as the URL, since drivers take it out', () => {
    const effect =
      '  store: { input: { topics: [a] }, postgres: { url: "postgres://me:hunt%24er@db/x", module: ./m.ts } }';
    expect(load(topLevelWith('effects:', effect)).secrets).toEqual([
      'postgres://me:hunt%24er@db/x',
      'hunt%24er',
      'hunt$er',
    ]);
  });

  it.each(['DB_PASSWORD', 'db_passwd', 'KEY_PASSPHRASE', 'CLIENT_SECRET', 'API_TOKEN', 'ACCESS_KEY', 'CREDENTIALS'])(
    'are known by a name such as %s',
    (name) => {
      expect(load(topLevelWith('http:', `  host: \${${name}}`), { [name]: 'hunter2' }).secrets).toEqual(['hunter2']);
    },
  );

  it('are never printed, wherever they stand and whatever is wrong with them', () => {
    const folder = new ConfigFolder(
      pipelineWith(
        ...PROPERTIES,
        '    ssl.keystore.password: [hunter2, "${file:password}"]',
        '    sasl.oauthbearer.assertion.private.key.passphrase: 42424242',
        '    linger.ms: ${file:password}',
        'group: ${GROUP_SECRET}',
        'onError: ${file:password}',
        'retry: { attempts: "${ACCESS_KEY}", minDelay: "${file:password}" }',
        'deadLetter: { topic: "${ACCESS_KEY}" }',
      ).replace('flights.late', '"${ACCESS_KEY}"'),
      { password: 'hunter2 x\n' },
    );
    const lines = folder.problems({ GROUP_SECRET: 'hunter 2', ACCESS_KEY: 'hunter-2' });
    expect(lines).toHaveLength(8);
    expect(lines.filter((line) => line.includes('found (hidden)'))).toHaveLength(7);
    expect(lines.join('\n')).not.toMatch(/hunter|42424242/);
  });

  it('are not printed by the YAML parser either', () => {
    for (const value of [
      '*hunter2',
      '!hunter2 x',
      '"hunter2',
      '@hunter2',
      '{ hunter2 ] }',
      'a: hunter2: b',
      '%hunter2',
      '|hunter2',
      '{ x: ${y} }\n      hunter2: 1',
    ]) {
      const lines = problems(pipelineWith(...PROPERTIES, `    ssl.keystore.password: ${value}`));
      expect(lines).not.toEqual([]);
      expect(lines.join('\n')).not.toContain('hunter2');
    }
  });
});
