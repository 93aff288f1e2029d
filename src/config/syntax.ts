import { isAlias, isMap, isNode, isScalar, isSeq, parseDocument, visit } from 'yaml';
import type { Alias, Document, LineCounter, Node, Scalar } from 'yaml';

/** The steps from the root to a field: keys of mappings and indexes of lists. */
export type Path = readonly PropertyKey[];

interface SyntaxProblem {
  /** Characters from the start of the file. */
  readonly offset: number;
  readonly message: string;
}

interface Syntax {
  readonly document: Document.Parsed;
  readonly problems: readonly SyntaxProblem[];
  /** True when there is no telling what the file means. */
  readonly fatal: boolean;
}

const ALIAS_REMEDY = 'a value that begins with * needs quotes';

/**
 * Parses one YAML document. The parser's own messages quote the file in places, where a password may stand: they are
 * cut, or replaced.
 */
export function parseYaml(text: string, lineCounter: LineCounter): Syntax {
  const document = parseDocument(text, { lineCounter, prettyErrors: false, merge: true, stringKeys: true });
  const { errors, warnings } = document;
  const problems = [...errors, ...warnings].map(({ code, message, pos: [offset] }) =>
    code === 'MISSING_CHAR' && message.includes('quote')
      ? { offset: quoteBefore(document, offset), message: 'this quote is never closed' }
      : { offset, message: remedy(code, message, text, offset) },
  );
  const others = senseless(document);
  mergeTwins(document);
  return {
    document,
    problems: [...firstOfEachLine(problems, lineCounter), ...others],
    fatal: others.length > 0 || errors.some((error) => error.code !== 'DUPLICATE_KEY'),
  };
}

function remedy(code: string, message: string, text: string, offset: number): string {
  if (text.startsWith('${', offset - 1)) return 'inside { } or [ ] a ${…} needs quotes: "${…}"';
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'this key stands twice in one mapping: remove one of the two';
    case 'MULTIPLE_DOCS':
      return 'the file holds several YAML documents: only one is allowed';
    case 'TAG_RESOLVE_FAILED':
      return 'YAML tags are not supported; a value that begins with ! needs quotes';
    case 'BAD_ALIAS':
      return `this alias is not well formed; ${ALIAS_REMEDY}`;
    case 'BAD_DQ_ESCAPE':
      return 'inside " " this \\ means nothing: write \\\\ for a plain one, or use single quotes';
    case 'NON_STRING_KEY':
      return 'a key must be plain text';
    default:
      return `this is not valid YAML: ${message.replace(/(?: in YAML stream| token)?: .*$/s, '')}`;
  }
}

/** Where the text begins that ends at an offset: the parser finds out there that a quote is missing. */
function quoteBefore(document: Document.Parsed, offset: number): number {
  let start = offset;
  visit(document, {
    Scalar(_, { type, range }) {
      if (range && type?.startsWith('QUOTE') && range[0] < offset && offset <= range[1]) start = range[0];
    },
  });
  return start;
}

/** The parser stumbles on through the rest of a line that it did not understand: only the first problem is of use. */
function firstOfEachLine(problems: readonly SyntaxProblem[], lines: LineCounter): SyntaxProblem[] {
  const byLine = new Map<number, SyntaxProblem>();
  for (const problem of problems) {
    const { line } = lines.linePos(problem.offset);
    if (!byLine.has(line)) byLine.set(line, problem);
  }
  return [...byLine.values()];
}

/**
 * Makes one of what stands twice in a mapping, so that nothing more is said of it: of blocks all fields are looked at,
 * of anything else the first.
 */
function mergeTwins(document: Document.Parsed): void {
  visit(document, {
    Map(_, map) {
      const kept = new Map<string, (typeof map.items)[number]>();
      map.items = map.items.filter((pair) => {
        const first = kept.get(keyText(pair.key));
        if (!first) kept.set(keyText(pair.key), pair);
        else if (isMap(first.value) && isMap(pair.value)) first.value.items.push(...pair.value.items);
        return !first;
      });
    },
  });
}

/** Well-formed YAML that has no meaning here. */
function senseless(document: Document.Parsed): SyntaxProblem[] {
  const problems: SyntaxProblem[] = [];
  visit(document, {
    Pair(_, { key }) {
      // Would get lost on the way to a plain object.
      const offset = isNode(key) ? (key.range?.[0] ?? 0) : 0;
      if (keyText(key) === '__proto__') problems.push({ offset, message: 'this name can not be used' });
    },
    Alias(_, alias: Alias, ancestors) {
      const target = alias.resolve(document);
      const offset = alias.range?.[0] ?? 0;
      if (!target) problems.push({ offset, message: `this alias has no anchor before it; ${ALIAS_REMEDY}` });
      else if (ancestors.includes(target)) problems.push({ offset, message: 'this alias holds itself' });
    },
  });
  return problems;
}

/** Every scalar that is a value, with its path. */
export function* scalars(node: unknown, path: Path = []): Generator<{ scalar: Scalar; path: Path }> {
  if (isScalar(node)) yield { scalar: node, path };
  else if (isMap(node)) for (const { key, value } of node.items) yield* scalars(value, [...path, keyText(key)]);
  else if (isSeq(node)) for (const [index, item] of node.items.entries()) yield* scalars(item, [...path, index]);
}

export function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

/** The key and the value at a path, aliases and merge keys followed. */
interface Field {
  readonly key: Node | null;
  readonly value: Node | null;
}

export function fieldAt(document: Document.Parsed, path: Path): Field | undefined {
  let field: Field | undefined = { key: null, value: document.contents };
  for (const step of path) {
    field = stepInto(document, field.value, step);
    if (!field) return undefined;
  }
  return field;
}

function resolved(document: Document.Parsed, node: unknown): Node | undefined {
  const target = isAlias(node) ? node.resolve(document) : node;
  return isNode(target) ? target : undefined;
}

function stepInto(document: Document.Parsed, node: unknown, step: PropertyKey): Field | undefined {
  const block = resolved(document, node);
  if (isSeq(block)) {
    const value = resolved(document, block.items[Number(step)]);
    return value && { key: value, value };
  }
  if (!isMap(block)) return undefined;
  const own = block.items.find(({ key }) => keyText(key) === step);
  if (own) return { key: isScalar(own.key) ? own.key : null, value: resolved(document, own.value) ?? null };
  for (const { key, value } of block.items) {
    if (keyText(key) !== '<<') continue;
    const sources = resolved(document, value);
    for (const source of isSeq(sources) ? sources.items : [sources]) {
      const merged = stepInto(document, source, step);
      if (merged) return merged;
    }
  }
  return undefined;
}
