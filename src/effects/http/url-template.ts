import { EffectFailure, type EffectRecord } from '../adapter.ts';
import { InvalidSetting } from '../reference.ts';
import { parseTemplate, renderTemplate } from '../template.ts';
import { textOf } from './text.ts';

export interface UrlTemplate {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query for a record. Throws an `EffectFailure` of kind `poison` where a value can't be part of a URL. */
  readonly path: (record: EffectRecord) => string;
}

/** Throws an `InvalidSetting` that says what is wrong. */
export function compileUrl(url: string): UrlTemplate {
  const [, origin, rest = ''] = /^(https?:\/\/[^/?#]+)([^#]*)/i.exec(url) ?? [];
  if (origin === undefined) throw new InvalidSetting(`"${url}" is no http or https URL`);
  if (/[{}]/.test(origin))
    throw new InvalidSetting(`"${url}": the host is the same for all records, with no placeholder`);
  if (origin.includes('@'))
    throw new InvalidSetting('a user or a password in the URL is not sent: set bearerToken or a header');
  if (!URL.canParse(origin)) throw new InvalidSetting(`"${origin}" is no valid scheme, host and port`);
  const template = parseTemplate(rest.startsWith('/') ? rest : `/${rest}`);
  return {
    origin,
    path: (record) =>
      renderTemplate(template, record, (value, reference) => encode(textOf(value, reference), reference.text)),
  };
}

function encode(text: string, from: string): string {
  // Both would lead to another resource: an empty part, and the dots that mean "here" and "above".
  if (/^\.{0,2}$/.test(text)) throw new EffectFailure('poison', `"${text}" at ${from} can not be a part of the URL`);
  try {
    return encodeURIComponent(text);
  } catch (error) {
    // Half of a surrogate pair.
    throw new EffectFailure('poison', `the text at ${from} is not valid Unicode`, { cause: error });
  }
}
