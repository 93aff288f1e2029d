import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Rows that are quick and matter most are part of `npm test`; the suite runs those tests instead of copies. */
const FOLDERS = { chaos: 'test/chaos', integration: 'test/integration' } as const;

export type Project = keyof typeof FOLDERS;

/** A fault, tried by the tests whose titles begin with its id: `C3: …`. */
export interface Row {
  readonly id: string;
  /** Of the tests, in the order of the file. */
  readonly titles: readonly string[];
  readonly files: readonly string[];
  readonly projects: readonly Project[];
}

/** All rows that there are, by id; found in the titles, so that nothing has to be listed twice. */
export function findRows(): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  for (const [project, folder] of Object.entries(FOLDERS) as [Project, string][]) {
    for (const file of testFiles(folder)) {
      for (const [id, title] of titlesIn(readFileSync(join(ROOT, file), 'utf8'))) {
        const { titles = [], files = [], projects = [] } = rows.get(id) ?? {};
        rows.set(id, {
          id,
          titles: [...titles, title],
          files: [...new Set([...files, file])],
          projects: [...new Set([...projects, project])],
        });
      }
    }
  }
  return new Map([...rows].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true })));
}

/** Matches the full names of these rows' tests and of no others: `T2` is not `T2b`. */
export const namePattern = (ids: readonly string[]): RegExp => new RegExp(`^(?:${ids.join('|')}): `);

/** The id that a test's full name begins with. */
export const idOf = (fullName: string): string | undefined => /^([A-Z]\d+[a-z]?): /.exec(fullName)?.[1];

function testFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

/** A title is the first thing in its quotes. */
function titlesIn(source: string): [id: string, title: string][] {
  return [...source.matchAll(/(['"`])(([A-Z]\d+[a-z]?): .*?)\1/g)].map(([, , title = '', id = '']) => [id, title]);
}
