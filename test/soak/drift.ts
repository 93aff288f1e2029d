/** A quantity at a moment, in any unit. */
export interface Point {
  /** Milliseconds since the soak began. */
  readonly at: number;
  readonly value: number;
}

export interface Drift {
  /** The means over the middle and the last third. */
  readonly middle: number;
  readonly last: number;
  /** How far the last third lies above the middle one, as a share of that; negative below. NaN where one has no points. */
  readonly share: number;
}

/**
 * How a quantity has changed over the last two thirds. Means of thirds, since single values jump: with each fault a
 * process begins anew, small and without caches.
 */
export function driftOf(points: readonly Point[], durationMs: number): Drift {
  const meanOfThird = (third: number): number => {
    const [from, to] = [(durationMs * third) / 3, (durationMs * (third + 1)) / 3];
    const values = points.filter(({ at }) => at >= from && at < to).map(({ value }) => value);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const [middle, last] = [meanOfThird(1), meanOfThird(2)];
  return { middle, last, share: (last - middle) / middle };
}

const TOLERANCE = 0.1;

/** I11 for one quantity. What nobody has seen is not flat. */
export const isFlat = ({ share }: Drift): boolean => Math.abs(share) <= TOLERANCE;
