/** The steps of a JSON pointer (RFC 6901) that is known to be one. */
export function parsePointer(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** What is found step by step, or undefined. Own fields only: `constructor` is there where a record has such a field. */
export function descend(from: unknown, path: readonly string[]): unknown {
  let here = from;
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    if (Array.isArray(here) && !/^(0|[1-9][0-9]*)$/.test(step)) return undefined;
    here = (here as Readonly<Record<string, unknown>>)[step];
  }
  return here;
}
