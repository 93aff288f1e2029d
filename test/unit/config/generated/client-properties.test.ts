import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { expect, it } from 'vitest';

const TABLE = join(import.meta.dirname, '../../../../src/config/client-properties.ts');

const PREAMBLE = `/**
 * The properties that the Kafka client knows, so that a mistake in one is found before anything is started. Made from
 * librdkafka's CONFIGURATION.md by \`npm run docs\`; a test fails when the installed client knows others.
 */
export interface ClientProperty {
  readonly client: 'both' | 'consumer' | 'producer';
  /** \`words\` is a list with commas; \`code\` can only be set by a program. */
  readonly type: 'text' | 'integer' | 'decimal' | 'flag' | 'word' | 'words' | 'code';
  readonly min?: number;
  readonly max?: number;
  readonly words?: readonly string[];
}
`;

const CLIENTS: Record<string, string> = { '*': 'both', C: 'consumer', P: 'producer' };
const TYPES: Record<string, string> = {
  string: 'text',
  'pattern list': 'text',
  integer: 'integer',
  float: 'decimal',
  boolean: 'flag',
  'enum value': 'word',
  'CSV flags': 'words',
  'see dedicated API': 'code',
};

function clientFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('@confluentinc/kafka-javascript/package.json'));
}

async function table(): Promise<string> {
  const markdown = readFileSync(join(clientFolder(), 'deps/librdkafka/CONFIGURATION.md'), 'utf8');
  const properties = new Map<string, string>();
  for (const line of markdown.split('\n')) {
    const [name, client, range, ...rest] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const type = /\*Type: (.*)\*$/.exec(rest.at(-1) ?? '')?.[1];
    if (!name || !client || range === undefined || !type) continue;
    const limits = /^(-?\d+) \.\. (-?\d+)$/.exec(range);
    const words = TYPES[type]?.startsWith('word') ? (range || (rest[0] ?? '')).split(', ') : undefined;
    const spec = {
      client: CLIENTS[client],
      type: TYPES[type],
      ...(limits && { min: Number(limits[1]), max: Number(limits[2]) }),
      ...(words && { words }),
    };
    // What is there twice is a global property and its default for topics: the global one counts.
    if (!properties.has(name)) properties.set(name, `'${name}': ${JSON.stringify(spec)},`);
  }
  const source = `${PREAMBLE}
export const CLIENT_PROPERTIES: Readonly<Record<string, ClientProperty>> = {
${[...properties.values()].join('\n')}
};`;
  return format(source, { ...(await resolveConfig(TABLE)), parser: 'typescript' });
}

it('knows exactly the properties of the installed client', async () => {
  const text = await table();
  expect(text.match(/client: '/g)?.length).toBeGreaterThan(150);
  await expect(text).toMatchFileSnapshot(TABLE);
});
