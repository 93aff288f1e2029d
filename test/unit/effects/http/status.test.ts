import { describe, expect, it } from 'vitest';

import { classifyStatus, retryAfterMs } from '../../../../src/effects/http/status.ts';

describe('a status', () => {
  it.each([
    ['done', [200, 201, 202, 204, 299]],
    ['conflict', [409]],
    ['denied', [401, 403, 407]],
    ['transient', [408, 425, 429, 500, 501, 502, 503, 504, 599]],
    ['poison', [301, 302, 304, 307, 400, 404, 405, 410, 412, 413, 415, 422, 451]],
  ])('is %s', (reply, statuses) => {
    expect(statuses.filter((status) => classifyStatus(status) !== reply)).toEqual([]);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('Wed, 21 Oct 2015 07:28:00 GMT');

  it.each([
    ['0', 0],
    [' 120 ', 120_000],
    ['Wed, 21 Oct 2015 07:28:30 GMT', 30_000],
    ['Wednesday, 21-Oct-15 07:28:30 GMT', 30_000],
    ['Wed, 21 Oct 2015 07:27:00 GMT', 0],
    ['86400', 3_600_000],
    ['99999999999999999999', 3_600_000],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
    [['1', '2'], undefined],
  ])('%j asks for %j ms', (header, wait) => {
    expect(retryAfterMs(header, now)).toBe(wait);
  });
});
