import type { EffectRecord } from '../adapter.ts';
import { jsonText } from '../json-text.ts';
import { InvalidSetting } from '../reference.ts';
import { parseTemplate, renderTemplate } from '../template.ts';
import type { HttpConfig } from '../../config/compiled.ts';
import { base64, textOf } from './text.ts';

/** Null for no body. */
export type BodyTemplate = ((record: EffectRecord) => string) | null;

/** Throws an `InvalidSetting` that names the field. */
export function compileBody(body: HttpConfig['body']): BodyTemplate {
  switch (body.type) {
    case 'none':
      return null;
    case 'value':
      return ({ value }) => jsonText(value, base64);
    case 'template': {
      const fill = compileNode(body.template, '');
      return (record) => jsonText(fill(record), base64);
    }
  }
}

type Fill = (record: EffectRecord) => unknown;

function compileNode(node: unknown, place: string): Fill {
  if (typeof node === 'string') return compileText(node, place);
  if (Array.isArray(node)) {
    const fills = node.map((element, index) => compileNode(element, `${place}[${index}]`));
    return (record) => fills.map((fill) => fill(record));
  }
  if (typeof node === 'object' && node !== null) {
    const fills = Object.entries(node).map(
      ([name, field]) => [name, compileNode(field, place === '' ? name : `${place}.${name}`)] as const,
    );
    return (record) => Object.fromEntries(fills.map(([name, fill]) => [name, fill(record)]));
  }
  return () => node;
}

function compileText(text: string, place: string): Fill {
  try {
    const template = parseTemplate(text);
    const [only] = template;
    // A placeholder alone keeps its type, and is null for what the record lacks.
    if (template.length === 1 && typeof only === 'object') return (record) => only.resolve(record) ?? null;
    return (record) => renderTemplate(template, record, textOf);
  } catch (error) {
    if (error instanceof InvalidSetting && place !== '') throw new InvalidSetting(`${place}: ${error.message}`);
    throw error;
  }
}
