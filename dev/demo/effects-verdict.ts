import type { StubRequest } from '../../test/helpers/stub-service.ts';

/** What the two processes and their targets show. */
export interface Applied {
  /** The event ids of the delayed flights in the topic. */
  readonly events: readonly string[];
  /** Events in the database when the first process was gone. */
  readonly before: number;
  /** Events that the second process has applied to the database, and those that it found applied. */
  readonly after: number;
  readonly repeats: number;
  /** Whether those two are from one process: what one has counted that somebody killed went with it. */
  readonly areCounted: boolean;
  /** The event ids of the rows in the database. */
  readonly stored: readonly string[];
  /** What came to the desk. */
  readonly requests: readonly Pick<StubRequest, 'idempotencyKey' | 'url' | 'body'>[];
}

export function effectsTable(applied: Applied): string {
  const { events, before, after, repeats, areCounted, stored, requests } = applied;
  const whole = areCounted ? '' : ', at least';
  const figures: [string, number][] = [
    ['events', events.length],
    ['applied before the kill', before],
    [`applied after it${whole}`, after],
    [`repeats skipped${whole}`, repeats],
    ['rows in the table', stored.length],
    ['requests at the desk', requests.length],
    ['distinct idempotency keys', distinct(keysOf(requests)).size],
  ];
  return figures.map(([what, count]) => `  ${what.padEnd(26)}${String(count).padStart(8)}`).join('\n');
}

/** What is wrong, one line each: each event must have its one row, and its one key at the desk, and some must have come twice. */
export function wrongEffects(applied: Applied): string[] {
  const { events, before, after, repeats, areCounted, stored, requests } = applied;
  const expected = distinct(events);
  const keys = distinct(keysOf(requests));
  const contents = distinct(requests.map(({ idempotencyKey, url, body }) => [idempotencyKey, url, body].join('\n')));
  const claims: [boolean, string][] = [
    [expected.size > 0 && expected.size === events.length && !expected.has(''), 'events without an id of their own'],
    [stored.length === expected.size, `${stored.length} rows for ${expected.size} events`],
    [isSame(distinct(stored), expected), 'rows of other events than those in the topic'],
    [!areCounted || before + after === expected.size, `${before} and ${after} applied, of ${expected.size} events`],
    [!areCounted || repeats > 0, 'the kill led to no repeat at the database, so it shows nothing'],
    [isSame(keys, expected), `${keys.size} idempotency keys at the desk for ${expected.size} events`],
    [contents.size === keys.size, 'two different requests with one idempotency key'],
    [requests.length > keys.size, 'the kill led to no repeat at the desk, so it shows nothing'],
  ];
  return claims.filter(([holds]) => !holds).map(([, wrong]) => wrong);
}

const keysOf = (requests: Applied['requests']): string[] => requests.map(({ idempotencyKey }) => idempotencyKey ?? '');

const distinct = (ids: readonly string[]): Set<string> => new Set(ids);

const isSame = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((id) => other.has(id));
