import type { RetryConfig } from '../config/compiled.ts';

/**
 * How long to wait before the try after `attempt`, in ms: doubled each time from `minDelayMs` up to `maxDelayMs`, with
 * the upper half at random, so that partitions that failed together don't come back together.
 */
export function retryDelay({ minDelayMs, maxDelayMs }: RetryConfig, attempt: number, random = Math.random): number {
  const ceiling = Math.min(maxDelayMs, minDelayMs * 2 ** (attempt - 1));
  return Math.max(minDelayMs, ceiling / 2 + (ceiling / 2) * random());
}
