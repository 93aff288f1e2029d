import type { EffectRecord } from './adapter.ts';
import { parseReference, InvalidSetting, type Reference } from './reference.ts';

/** Text with placeholders: what is between them, and what they refer to. */
export type Template = readonly (string | Reference)[];

/** `{reference}` is a placeholder, `{{` and `}}` are braces. Throws an `InvalidSetting`. */
export function parseTemplate(text: string): Template {
  const parts: (string | Reference)[] = [];
  let literal = '';
  for (const [token] of text.matchAll(/\{\{|\}\}|\{[^{}]*\}|[^{}]+|[{}]/gs)) {
    if (token === '{{' || token === '}}') literal += token.slice(1);
    else if (token.length > 1 && token.startsWith('{')) {
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push(parseReference(token.slice(1, -1).trim()));
    } else if (token === '{' || token === '}') {
      throw new InvalidSetting(`"${text}" has a single "${token}"; a brace that is no placeholder is written twice`);
    } else literal += token;
  }
  return literal === '' ? parts : [...parts, literal];
}

/** Writes the record's values into the text; `write` gets undefined and null too. */
export function renderTemplate(
  template: Template,
  record: EffectRecord,
  write: (value: unknown, reference: Reference) => string,
): string {
  return template.map((part) => (typeof part === 'string' ? part : write(part.resolve(record), part))).join('');
}
