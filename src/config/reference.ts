import { Document, isMap, type Pair, parseDocument } from 'yaml';
import { REFUSED_PROPERTIES } from './client-refusals.ts';
import { EXAMPLE } from './example.ts';
import { describedSchema } from './schema.ts';
import type { JsonSchema } from './schema.ts';

/** What holds for all fields; the sections on blocks follow from the spec. */
const INTRODUCTION = `# Configuration

Pipelines and effects are described in one YAML file: \`millrace run flights.yaml\` runs them, \`millrace check
flights.yaml\` only checks it. This page is made from the same spec as the checks.

The least that is needed:

\`\`\`yaml
application: flights
kafka:
  bootstrapServers: localhost:9092
pipelines:
  route-flights:
    input: { topics: [flights] }
    transform: ./transforms/route-flight.ts
    outputs:
      on-time: { topic: flights.on-time }
\`\`\`

All problems of a file are reported at once, each with its place, its field, what was found and what is allowed:

\`\`\`
flights.yaml:12:36  pipelines.route-flights.retry.maxDelay: found 500ms, must be at least minDelay (by default 1s)
\`\`\`

An unknown field is a problem as well, and so is an unknown client property. An editor completes and checks fields
with the JSON Schema: \`millrace schema > millrace.schema.json\`, and as the first line of the configuration
\`# yaml-language-server: $schema=./millrace.schema.json\`.

## Variables and files

| Written                | Stands for                                                                                |
| ---------------------- | ----------------------------------------------------------------------------------------- |
| \`\${VAR}\`            | The environment variable; a variable that is not set is a problem.                        |
| \`\${VAR:-default}\`   | The same, with a default for a variable that is not set or empty.                         |
| \`\${file:/run/token}\` | The text of a file without the newline at its end, relative to the configuration's folder. |
| \`$$\`                 | A plain \`$\`. Before anything but \`{\` or \`$\`, a \`$\` stands for itself.             |

- They may stand anywhere in a value, but not in a field's name. Inside \`{ }\` or \`[ ]\` YAML wants quotes around
  them: \`{ topic: "\${TOPIC}" }\`.
- What comes out is never looked at again: a \`$\` in a password is safe, and no value can become YAML of its own.
- Where a number or true/false is asked for, the text is read as one.
- What comes from a file, from a variable or into a client property whose name has \`password\`, \`secret\`, \`token\`,
  \`key\` or the like in it, is taken for a secret: messages show \`(hidden)\`.

## Units, paths, YAML

- Durations have a unit: \`100ms\`, \`1s\`, \`5m\`, \`1h\`.
- So have sizes: \`512B\`, \`512KiB\`, \`16MiB\`, \`1GiB\`, and by thousands \`512KB\`, \`1MB\`, \`1GB\`.
- Paths are relative to the folder of the configuration file.
- Anchors, aliases and merge keys (\`<<\`) work within the file. A key that stands twice is a problem.
`;

const CLIENT_PROPERTIES_INTRODUCTION = `## Client properties

\`kafka.properties\` goes to every client that knows the property; \`consumer.properties\` and \`producer.properties\` of a
pipeline come on top of it. What fits only one group protocol (\`heartbeat.interval.ms\`, \`group.remote.assignor\`)
belongs in \`consumer.properties\`. Names, values and bounds are those of librdkafka's
[CONFIGURATION.md](https://github.com/confluentinc/librdkafka/blob/master/CONFIGURATION.md), and are checked before
anything is started. Properties that take code are refused, and those that would weaken the guarantee, that have a
field of their own, or that Millrace needs as they are:
`;

/** Stands in a path for any name that the user chooses. */
const ANY_NAME = '<name>';

/** docs/configuration.md, as Markdown. */
export function reference(): string {
  const everyField = `## Every field once\n\n\`\`\`yaml\n${EXAMPLE}\`\`\`\n`;
  return [INTRODUCTION, ...sections(describedSchema(), []), clientPropertyRules(), everyField].join('\n');
}

type Path = readonly string[];
type Field = readonly [name: string, schema: JsonSchema];

/** One section a block, outer ones first. */
function* sections(schema: JsonSchema, path: Path): Generator<string> {
  const fields = fieldsOf(schema);
  const inner = fields.flatMap(([name, field]) => blocksIn(field, [...path, name]));
  yield [
    `## ${path.length === 0 ? 'Top level' : code(path.join('.'))}\n`,
    ...(schema.description ? [`${schema.description}\n`] : []),
    '| Field | Takes | Default | Meaning |',
    '| --- | --- | --- | --- |',
    ...fields.map((field) => row(field, schema.required ?? [])),
    // Around other blocks an example would repeat theirs.
    ...(inner.length === 0 ? [`\n\`\`\`yaml\n${exampleOf(path)}\`\`\``] : []),
    '',
  ].join('\n');
  for (const block of inner) yield* sections(block.schema, block.path);
}

function fieldsOf(schema: JsonSchema): Field[] {
  return Object.entries(schema.properties ?? {}).filter((entry): entry is [string, JsonSchema] => isSchema(entry[1]));
}

function isSchema(part: unknown): part is JsonSchema {
  return typeof part === 'object' && part !== null;
}

/** The block that gets a section of its own: the field itself, or what it holds by name. Client properties get none. */
function blocksIn(schema: JsonSchema, path: Path): { schema: JsonSchema; path: Path }[] {
  const { additionalProperties: named, properties, allowed } = schema;
  if (isSchema(named)) return named.properties ? [{ schema: named, path: [...path, ANY_NAME] }] : [];
  return properties && allowed === undefined ? [{ schema, path }] : [];
}

function row([name, schema]: Field, required: readonly string[]): string {
  const { allowed, default: preset, description = '' } = schema;
  const isBlock = blocksIn(schema, []).length > 0;
  const takes = typeof allowed === 'string' ? plain(allowed) : 'a mapping, see below';
  const hasPreset = !isBlock && preset !== undefined && typeof preset !== 'object';
  const otherwise = required.includes(name) ? '**required**' : hasPreset ? code(preset) : '';
  return `| ${code(name)} | ${takes} | ${otherwise} | ${description} |`;
}

/** Text without markup: what looks like a tag would vanish. */
function plain(text: string): string {
  return text.replaceAll('<', '\\<');
}

function code(text: unknown): string {
  return `\`${String(text)}\``;
}

/** The part of the example at a path, under its own key. */
function exampleOf(path: Path): string {
  const part = find(parseDocument(EXAMPLE).contents, path);
  if (!part) throw new Error(`the example lacks ${path.join('.')}`);
  return new Document({ [String(part.key)]: part.value }).toString();
}

/** The first place where a path leads to something: not each of the example's effects has each block. */
function find(node: unknown, [step, ...rest]: Path): Pair | undefined {
  for (const pair of isMap(node) ? node.items : []) {
    if (step !== ANY_NAME && String(pair.key) !== step) continue;
    const found = rest.length === 0 ? pair : find(pair.value, rest);
    if (found) return found;
  }
  return undefined;
}

function clientPropertyRules(): string {
  return [
    CLIENT_PROPERTIES_INTRODUCTION,
    '| Property | Why it can not be set |',
    '| --- | --- |',
    ...REFUSED_PROPERTIES.map(({ names, reason }) => `| ${names.map(code).join(', ')} | ${plain(reason)} |`),
    '',
  ].join('\n');
}
