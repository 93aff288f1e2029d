import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createJiti } from 'jiti';
import { afterAll, describe, expect, it } from 'vitest';
import * as millrace from '../../../src/index.ts';
import * as testing from '../../../src/testing.ts';
import { loadTransform } from '../../../src/transform/load-transform.ts';

/** The examples of docs/transforms.md: those that begin with a file's name as files, the others as modules of their own. */
const guide = readFileSync(new URL('../../../docs/transforms.md', import.meta.url), 'utf8');
const blocks = [...guide.matchAll(/^```(ts|yaml)\n(?:(?:\/\/|#) (\S+\.\S+)\n)?([\s\S]*?)^```$/gm)];
const folder = mkdtempSync(join(tmpdir(), 'guide-'));
afterAll(() => rmSync(folder, { recursive: true }));

blocks.forEach(([, language, name, text = ''], index) => {
  const path = join(folder, name ?? `example-${index}.${language}`);
  mkdirSync(dirname(path), { recursive: true });
  // A user runs the example in the folder of the configuration; this process stays where it is.
  writeFileSync(path, text.replaceAll("'flights.yaml'", JSON.stringify(join(folder, 'flights.yaml'))));
});

describe('the guide to transforms', () => {
  it('has the examples that are tried here', () => {
    const names = blocks.map(([, , name]) => name);
    expect(names).toEqual(['transforms/route-flight.ts', 'flights.yaml', undefined, 'test/route-flight.test.ts']);
  });

  it('has a transform that splits an order into its lines', async () => {
    const transform = await loadTransform(join(folder, 'example-2.ts'), { millrace });
    const pipeline = await testing.testPipeline(join(folder, 'flights.yaml'), 'route-flights', {
      transform: (record, context) =>
        [transform(record, context)].flat().map((line) => ({ ...(line as object), value: null, to: 'delayed' })),
    });
    const { outputs } = await pipeline.run([{ value: { lines: [{ sku: 'a' }, { sku: 'b' }] } }]);
    expect(outputs['delayed']).toMatchObject([{ key: 'a' }, { key: 'b' }]);
    expect(outputs['delayed']?.[0]?.headers.text('source')).toBe('orders');
  });

  it('has tests that pass', async () => {
    const cases = new Map<string, () => Promise<void>>();
    const vitest = { expect, it: (title: string, run: () => Promise<void>) => cases.set(title, run) };
    const path = join(folder, 'test/route-flight.test.ts');
    const virtualModules = { millrace, 'millrace/testing': testing, vitest };
    await createJiti(path, { virtualModules, fsCache: false }).import(path);
    expect([...cases.keys()]).toEqual(['routes flights by their delay', 'gives up what is no flight']);
    for (const run of cases.values()) await run();
  });
});
