import { EffectFailure, type EffectRecord } from '../adapter.ts';
import { InvalidSetting } from '../reference.ts';
import { parseTemplate, renderTemplate } from '../template.ts';
import type { HttpConfig } from '../../config/compiled.ts';
import { idempotencyKey } from './idempotency-key.ts';
import { textOf } from './text.ts';

const IDEMPOTENCY_KEY = 'idempotency-key';

/** In lower case, with the reason. */
const RESERVED: Readonly<Record<string, string>> = {
  [IDEMPOTENCY_KEY]: 'it is the event id, by which the service knows a repeat',
  'content-length': 'it follows from the body',
  'transfer-encoding': 'it follows from the body',
  host: 'it follows from the URL',
  connection: 'the connection is kept open',
  'keep-alive': 'the connection is kept open',
  expect: 'no answer before the body is waited for',
  te: 'it is about the connection',
  trailer: 'there is none',
  upgrade: 'the protocol stays HTTP',
};

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Throws an `InvalidSetting` that names the header. */
export function compileHeaders({
  headers,
  bearerToken,
  body,
}: HttpConfig): (record: EffectRecord) => Readonly<Record<string, string>> {
  const templates = Object.entries(headers).map(([name, text]) => {
    const reason =
      bearerToken !== null && name.toLowerCase() === 'authorization'
        ? 'it comes from bearerToken'
        : RESERVED[name.toLowerCase()];
    if (reason !== undefined) throw new InvalidSetting(`the header ${name} can not be set: ${reason}`);
    if (!NAME.test(name)) throw new InvalidSetting(`"${name}" is no name of a header`);
    return [name.toLowerCase(), parseTemplate(text)] as const;
  });
  const fixed = {
    ...(body.type === 'none' ? {} : { 'content-type': 'application/json' }),
    ...(bearerToken === null ? {} : { authorization: `Bearer ${bearerToken}` }),
  };
  return (record) => {
    const own = templates.map(([name, template]) => {
      const value = renderTemplate(template, record, textOf);
      if (!VALUE.test(value)) throw new EffectFailure('poison', `the header ${name} can not carry this record's text`);
      return [name, value] as const;
    });
    return { ...fixed, ...Object.fromEntries(own), [IDEMPOTENCY_KEY]: idempotencyKey(record.eventId) };
  };
}
