import { isReference, parseReference, InvalidSetting, type Reference } from '../reference.ts';

/** SQL with `$1`, `$2`, … and what each of them is bound to. */
export interface Statement {
  readonly text: string;
  readonly parameters: readonly Reference[];
}

/** What PostgreSQL reads as one piece in which nothing is bound: strings, quoted names, comments; and the placeholders. */
const TOKEN = new RegExp(
  [
    String.raw`(?<quoted>(?<!\w)[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*")`,
    String.raw`(?<dollar>(?<![\w$])\$(?<tag>[A-Za-z_]\w*)?\$.*?\$\k<tag>\$)`,
    String.raw`(?<line>--[^\n]*)`,
    String.raw`(?<comment>/\*)`,
    String.raw`(?<placeholder>\{[^{}]*\})`,
    String.raw`(?<numbered>(?<![\w$])\$[0-9]+)`,
    String.raw`(?<stray>['"{}])`,
  ].join('|'),
  'gs',
);

/**
 * Compiles a statement with placeholders such as `{value.delay}`. Braces have no meaning of their own in SQL outside of
 * quotes. Each placeholder is a parameter of its own, so that one value can be bound as two types. Throws an
 * `InvalidSetting` that names the place.
 */
export function compileStatement(sql: string): Statement {
  const parameters: Reference[] = [];
  let text = '';
  let position = 0;
  const refuse = (at: number, why: string): never => {
    const before = sql.slice(0, at).split('\n');
    throw new InvalidSetting(`line ${before.length}, column ${(before.at(-1) ?? '').length + 1}: ${why}`);
  };

  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(sql); match !== null; match = TOKEN.exec(sql)) {
    const { index } = match;
    const [token] = match;
    const kind = match.groups ?? {};
    text += sql.slice(position, index);
    position = index + token.length;

    if (kind['placeholder'] !== undefined) {
      try {
        parameters.push(parseReference(token.slice(1, -1).trim()));
      } catch (error) {
        if (error instanceof InvalidSetting) refuse(index, error.message);
        throw error;
      }
      text += `$${parameters.length}`;
      continue;
    }
    if (kind['stray'] !== undefined) refuse(index, `${token} is never closed or was never opened`);
    if (kind['numbered'] !== undefined)
      refuse(index, `${token} is bound to nothing: write a placeholder, such as {key}`);
    if (kind['quoted'] !== undefined) {
      const inside = /\{\s*([^{}]*?)\s*\}/.exec(token);
      if (token.includes("'") && inside?.[1] !== undefined && isReference(inside[1])) {
        refuse(index, `within quotes ${inside[0]} is text; leave the quotes out, values are bound and not pasted`);
      }
    }
    if (kind['comment'] !== undefined) {
      position = endOfComment(sql, index) ?? refuse(index, 'the comment is never closed');
      TOKEN.lastIndex = position;
      text += sql.slice(index, position);
      continue;
    }
    text += token;
  }
  return { text: text + sql.slice(position), parameters };
}

/** PostgreSQL's comments nest. */
function endOfComment(sql: string, start: number): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of sql.slice(start).matchAll(/\/\*|\*\//g)) {
    depth += token === '/*' ? 1 : -1;
    if (depth === 0) return start + index + token.length;
  }
  return undefined;
}
