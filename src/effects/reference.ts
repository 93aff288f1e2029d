import type { EffectRecord } from './adapter.ts';
import { descend, parsePointer } from './path.ts';

/** Where a value comes from in a record, such as `value.route.origin`. */
export interface Reference {
  /** As it was written. */
  readonly text: string;
  /** Undefined where the record has nothing there. */
  readonly resolve: (record: EffectRecord) => unknown;
}

/** A reference, a placeholder or what they stand in can't be used as it is; the message says what is allowed. */
export class InvalidSetting extends Error {
  override readonly name = 'InvalidSetting';
}

/** Names the place in the configuration where `compile` throws an `InvalidSetting`. */
export function inPlace<T>(place: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (error instanceof InvalidSetting) throw new Error(`${place}: ${error.message}`, { cause: error });
    throw error;
  }
}

const FACTS: Readonly<Record<string, (record: EffectRecord) => unknown>> = {
  eventId: ({ eventId }) => eventId,
  timestamp: ({ timestamp }) => (timestamp < 0 ? undefined : new Date(timestamp).toISOString()),
  topic: ({ source }) => source.topic,
  partition: ({ source }) => source.partition,
  offset: ({ source }) => source.offset,
};

const ALLOWED =
  'key, value, value.<field>, value/<JSON pointer>, header.<name>, eventId, timestamp, topic, partition, offset';

/** Throws an `InvalidSetting`. */
export function parseReference(text: string): Reference {
  const [, root = '', rest = ''] = /^([A-Za-z]*)(.*)$/s.exec(text) ?? [];
  return { text, resolve: resolver(text, root, rest) };
}

export function isReference(text: string): boolean {
  return /^(key|value|header|eventId|timestamp|topic|partition|offset)\b/.test(text);
}

function resolver(text: string, root: string, rest: string): Reference['resolve'] {
  const fact = Object.hasOwn(FACTS, root) ? FACTS[root] : undefined;
  if (fact !== undefined && rest === '') return fact;
  if (root === 'header' && rest.startsWith('.') && rest.length > 1) {
    const name = rest.slice(1);
    return ({ headers }) => headers.text(name);
  }
  if (root === 'key' || root === 'value') {
    const path = parsePath(text, rest);
    return root === 'key' ? ({ key }) => descend(key, path) : ({ value }) => descend(value, path);
  }
  throw new InvalidSetting(`unknown reference "${text}"; allowed are ${ALLOWED}`);
}

function parsePath(text: string, rest: string): readonly string[] {
  if (rest === '') return [];
  if (rest.startsWith('/')) {
    if (/~(?![01])/.test(rest)) throw new InvalidSetting(`"${text}": in a JSON pointer "~" is written ~0 and "/" ~1`);
    return parsePointer(rest);
  }
  const steps = rest.slice(1).split('.');
  if (!rest.startsWith('.') || steps.some((step) => !/^[\p{L}\p{N}_$-]+$/u.test(step))) {
    throw new InvalidSetting(
      `"${text}" is not a path; fields with other characters need a JSON pointer: value/<field>`,
    );
  }
  return steps;
}
