import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { EXAMPLE } from '../../../src/config/example.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { pipelineWith, topLevelWith } from './configuration-file.ts';

/** The schema as another program would see it. */
const schema = z.fromJSONSchema(JSON.parse(JSON.stringify(configSchema())) as z.core.JSONSchema.JSONSchema);

function accepts(yaml: string): boolean {
  return schema.safeParse(parse(yaml)).success;
}

describe('the JSON Schema', () => {
  it('is of draft 2020-12 and accepts the example', () => {
    expect(configSchema().$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(accepts(EXAMPLE)).toBe(true);
  });

  it('accepts a variable wherever a number, a choice or a quantity is asked for', () => {
    expect(accepts(topLevelWith('http: { port: "${PORT}" }', 'log: { level: "${LEVEL:-info}" }'))).toBe(true);
    expect(accepts(pipelineWith('transaction: { commitInterval: "${MS}ms" }', 'provenance: "${P}"'))).toBe(true);
    expect(accepts(topLevelWith('http: { port: PORT }'))).toBe(false);
  });

  it('refuses a variable in a name', () => {
    expect(accepts(pipelineWith().replace('late:', '"${LATE}":'))).toBe(false);
  });

  it.each([
    'logg: {}',
    'log: { levl: info }',
    'log: { level: loud }',
    'http: { port: 65536 }',
    'shutdown: { grace: 30 }',
    'instance: a/b',
  ])('refuses %s', (line) => {
    expect(accepts(topLevelWith(line))).toBe(false);
  });

  it.each([
    'deadLetter: {}',
    'retry: { attempts: 0 }',
    'transaction: { maxBytes: 16 }',
    'consumer: { properties: { linger.ms: 1 } }',
    'consumer: { properties: { isolation.level: read_uncommitted } }',
    'producer: { properties: { linger.ms: soon } }',
  ])('refuses %s in a pipeline', (line) => {
    expect(accepts(pipelineWith(line))).toBe(false);
  });

  it('says of every field what it means, what it takes and its default', () => {
    const { log } = configSchema().properties ?? {};
    expect(log).toMatchObject({
      description: 'The log.',
      properties: {
        level: {
          description: 'The least severe messages to print. Takes debug, info, warn or error.',
          default: 'info',
        },
      },
    });
    expect(JSON.stringify(configSchema())).not.toContain('"allowed"');
  });
});
