import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import * as millrace from '../../../src/index.ts';
import { ModuleError } from '../../../src/transform/load-module.ts';
import { loadTransform } from '../../../src/transform/load-transform.ts';
import { compiled, errorOf, outputsOf, record } from './compiled.ts';

// Outside of the repository, so that no node_modules is found from there.
const root = realpathSync(mkdtempSync(join(tmpdir(), 'transforms-')));
afterAll(() => rmSync(root, { recursive: true }));

let folders = 0;
/** Writes files into a folder of their own and returns the path of the first one. */
function write(files: Record<string, string>): string {
  const folder = join(root, String((folders += 1)), 'with space');
  const paths = Object.entries(files).map(([name, text]) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  });
  return paths[0] ?? folder;
}

const load = (files: Record<string, string>) => loadTransform(write(files), { millrace });

async function refusal(files: Record<string, string>): Promise<{ message: string; path: string }> {
  const path = write(files);
  const error: unknown = await loadTransform(path, { millrace }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ModuleError);
  return { message: (error as Error).message, path };
}

const valueFrom = async (files: Record<string, string>): Promise<string> => {
  const run = compiled(await load(files));
  return outputsOf(run(record(), 1))
    .map(({ value }) => String(value))
    .join();
};

describe('a transform is loaded', () => {
  const typed = `import { defineTransform } from 'millrace';
    interface Flight { delay: number }
    export default defineTransform<Flight, number>(({ value }): { value: number } => ({ value: value.delay + 1 }));`;
  const esm = `import { defineTransform } from 'millrace';
    export default defineTransform(({ value }) => ({ value: value.delay + 1 }));`;
  const commonJs = `const { defineTransform } = require('millrace');
    module.exports = defineTransform(({ value }) => ({ value: value.delay + 1 }));`;
  const commonTypeScript = `import millrace = require('millrace');
    export = millrace.defineTransform<{ delay: number }, number>(({ value }) => ({ value: value.delay + 1 }));`;

  it.each([
    ['transform.ts', typed],
    ['transform.mts', typed],
    ['transform.cts', commonTypeScript],
    ['transform.js', esm],
    ['transform.mjs', esm],
    ['transform.js', commonJs],
    ['transform.cjs', commonJs],
    ['plain.ts', 'export default ({ value }: any) => ({ value: value.delay + 1 });'],
    ['compiled.cjs', 'exports.__esModule = true; exports.default = ({ value }) => ({ value: value.delay + 1 });'],
  ])('from %s: %s', async (name, text) => {
    await expect(valueFrom({ [name]: text })).resolves.toBe('18');
  });

  it('with files of its own beside it, with and without extension', async () => {
    const value = await valueFrom({
      'transform.ts': `import { double } from './lib/double';
        import { triple } from './lib/triple.ts';
        import { quad } from './lib/quad.js';
        import { five } from './lib/five.mjs';
        import limits from './lib/limits.json' with { type: 'json' };
        export default () => ({ value: [double(1), triple(1), quad(1), five, limits.six] });`,
      'lib/double.ts': 'export const double = (n: number): number => 2 * n;',
      'lib/triple.ts': 'export const triple = (n: number): number => 3 * n;',
      'lib/quad.ts': 'export const quad = (n: number): number => 4 * n;',
      'lib/five.mjs': 'export const five = 5;',
      'lib/limits.json': '{ "six": 6 }',
    });
    expect(value).toBe('[2,3,4,5,6]');
  });

  it('with packages of its own folder', async () => {
    const value = await valueFrom({
      'transform.ts': `import { kind } from 'lib-esm'; import common from 'lib-cjs'; import { named } from 'lib-cjs';
        export default () => ({ value: [kind, common.named, named] });`,
      'node_modules/lib-esm/package.json': '{ "name": "lib-esm", "type": "module", "exports": "./index.js" }',
      'node_modules/lib-esm/index.js': "export const kind = 'esm';",
      'node_modules/lib-cjs/package.json': '{ "name": "lib-cjs" }',
      'node_modules/lib-cjs/index.js': "module.exports = { named: 'cjs' };",
    });
    expect(value).toBe('["esm","cjs","cjs"]');
  });

  it('with top-level await, and with what only a TypeScript compiler understands', async () => {
    const value = await valueFrom({
      'transform.ts': `import { readFile } from 'node:fs/promises';
        enum Color { Red = 'r' }
        class Paint { constructor(readonly color: Color) {} }
        const text: string = await readFile(new URL('./limit.txt', import.meta.url), 'utf8');
        export default () => ({ value: [new Paint(Color.Red).color, text] });`,
      'limit.txt': 'seven',
    });
    expect(value).toBe('["r","seven"]');
  });

  it("with this process's own package, not a copy from its folder", async () => {
    const transform = await load({
      'transform.ts': `import { PoisonRecord } from 'millrace';
        export default () => { throw new PoisonRecord('no'); };`,
      'node_modules/millrace/package.json': '{ "name": "millrace", "main": "index.js" }',
      'node_modules/millrace/index.js': 'exports.PoisonRecord = class extends Error {};',
    });
    expect(errorOf(() => compiled(transform)(record(), 1))).toBeInstanceOf(millrace.PoisonRecord);
  });

  it('so that stack traces show the lines of its source', async () => {
    const lines = [
      "import { defineTransform } from 'millrace';",
      'interface Flight {',
      '  delay: number;',
      '}',
      'enum Limit {',
      '  Late = 15,',
      '}',
      'class Delay {',
      '  constructor(',
      '    private readonly minutes: number,',
      '  ) {}',
      '  check<T>(this: Delay, value: T): T {',
      "    if (this.minutes > Limit.Late) throw new Error('late');",
      '    return value;',
      '  }',
      '}',
      'export default defineTransform<Flight>(({ value }) => {',
      '  return { value: new Delay(value.delay).check<Flight>(value) };',
      '});',
    ];
    const path = write({ 'transform.ts': lines.join('\n') });
    const transform = await loadTransform(path, { millrace });
    const { stack } = errorOf(() => compiled(transform)(record(), 1));
    expect(stack).toContain(`${path}:13:`);
    expect(stack).toContain(`${path}:18:`);
  });
});

describe('a transform is refused', () => {
  it('when its file is missing, with the one that was probably meant', async () => {
    const path = write({ 'route-flight.ts': '' });
    const without = (name: string) => loadTransform(join(dirname(path), name), { millrace });
    await expect(without('route-flight.js')).rejects.toThrow(
      `transform ${join(dirname(path), 'route-flight.js')}: there is no such file: did you mean ${path}?`,
    );
    await expect(without('rout-flight.ts')).rejects.toThrow(`did you mean ${path}?`);
    await expect(without('nowhere/other.ts')).rejects.toThrow('the path is relative to the configuration file');
  });

  it('when it is a folder', async () => {
    const folder = dirname(write({ 'transform.ts': '' }));
    await expect(loadTransform(folder, { millrace })).rejects.toThrow('this is a folder: name the file in it');
  });

  it.each([
    ['export const route = () => 1;', 'it has no default export (it exports route): write `export default'],
    ['', 'it has no default export (it exports nothing)'],
    ['export default 42;', 'its default export is not a function, but number'],
    ['export default {};', 'its default export is not a function, but object'],
  ])('when it has no function to run: %s', async (text, message) => {
    expect((await refusal({ 'transform.ts': text })).message).toContain(message);
  });

  it('when its syntax is wrong, with the place and the line', async () => {
    const { message, path } = await refusal({ 'transform.ts': 'const a = 1;\nexport default () => a +;\n' });
    expect(message).toBe(
      [
        `transform ${path}: syntax error: Unexpected token`,
        `  at ${path}:2:25`,
        '    2 | export default () => a +;',
        '                                ^',
      ].join('\n'),
    );
  });

  it('when the syntax of a file that it imports is wrong', async () => {
    const { message } = await refusal({ 'transform.ts': "import './lib.ts';", 'lib.ts': 'const a: = 1;' });
    expect(message).toMatch(/syntax error: Unexpected token\n {2}at .*lib\.ts:1:10\n/);
  });

  it('when a package is not installed, with the command that installs it', async () => {
    const { message, path } = await refusal({ 'transform.ts': "\nimport '@scope/left-pad/lib';\nexport default 1;" });
    expect(message).toContain(
      `it imports '@scope/left-pad/lib', which is not installed: run \`npm install @scope/left-pad\` where ${dirname(path)}`,
    );
    expect(message).toContain(`at ${path}:2`);
  });

  it('when a file that it imports does not exist', async () => {
    const { message } = await refusal({ 'transform.ts': "import { a } from './a.ts';\nexport default () => a;" });
    expect(message).toContain("it imports './a.ts', which does not exist");
  });

  it('when it throws while it is loaded, with the place and without frames of libraries', async () => {
    const { message, path } = await refusal({
      'transform.ts': "type A = string;\nthrow new Error('LIMITS is not set');",
    });
    expect(message).toBe(
      [
        `transform ${path}: it threw while it was loaded: LIMITS is not set`,
        `  at ${path}:2`,
        "    2 | throw new Error('LIMITS is not set');",
      ].join('\n'),
    );
  });

  it('when it throws something that is no Error', async () => {
    const { message, path } = await refusal({ 'transform.ts': 'throw null;' });
    expect(message).toBe(`transform ${path}: it threw while it was loaded: null (thrown as it is, not as an Error)`);
  });
});
