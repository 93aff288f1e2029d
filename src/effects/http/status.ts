import type { EffectFailure } from '../adapter.ts';

export type Reply = 'done' | 'conflict' | EffectFailure['kind'];

/** What a status says about the effect. */
export function classifyStatus(status: number): Reply {
  if (status >= 200 && status < 300) return 'done';
  switch (status) {
    case 409: // Conflict
      return 'conflict';
    case 401: // Unauthorized
    case 403: // Forbidden
    case 407: // Proxy Authentication Required
      return 'denied';
    case 408: // Request Timeout
    case 425: // Too Early
    case 429: // Too Many Requests
      return 'transient';
    default:
      // A redirect is not followed: where it leads nobody has configured, and a POST may arrive there as a GET.
      return status >= 500 ? 'transient' : 'poison';
  }
}

/** What a service may ask for at most: a mistaken date must not hold a partition for years. */
const LONGEST_WAIT_MS = 3_600_000;

/** Milliseconds from a Retry-After header, in seconds or as an HTTP date; undefined where there is none that is valid. */
export function retryAfterMs(header: string | readonly string[] | undefined, now: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const text = header.trim();
  const wait = /^[0-9]+$/.test(text)
    ? Number(text) * 1_000
    : /^[A-Z][a-z]{2,}, /.test(text)
      ? Date.parse(text) - now
      : NaN;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), LONGEST_WAIT_MS);
}
