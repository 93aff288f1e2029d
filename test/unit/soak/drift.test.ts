import { describe, expect, it } from 'vitest';

import { driftOf, isFlat, type Point } from '../../soak/drift.ts';

const DURATION_MS = 300;
const each = (value: (at: number) => number): Point[] =>
  Array.from({ length: DURATION_MS }, (_, at) => ({ at, value: value(at) }));

describe('a quantity over the last two thirds', () => {
  it('is flat where it only rose in the first third', () => {
    const drift = driftOf(
      each((at) => (at < 100 ? at : 100)),
      DURATION_MS,
    );
    expect(drift).toEqual({ middle: 100, last: 100, share: 0 });
    expect(isFlat(drift)).toBe(true);
  });

  it('is flat where it jumps up and down', () => {
    expect(
      isFlat(
        driftOf(
          each((at) => 100 + (at % 40)),
          DURATION_MS,
        ),
      ),
    ).toBe(true);
  });

  it('is not flat where it grows or shrinks by more than a tenth', () => {
    expect(
      isFlat(
        driftOf(
          each((at) => 100 + at * 0.2),
          DURATION_MS,
        ),
      ),
    ).toBe(false);
    expect(
      isFlat(
        driftOf(
          each((at) => 100 - at * 0.2),
          DURATION_MS,
        ),
      ),
    ).toBe(false);
  });

  it('is not flat where nobody has seen it', () => {
    expect(isFlat(driftOf([], DURATION_MS))).toBe(false);
  });
});
