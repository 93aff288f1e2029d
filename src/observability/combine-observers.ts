import type { Observer } from '../pipeline/observer.ts';

/** One observer that passes each fact to those of `parts` that take it, in order. */
export function combineObservers(...parts: readonly Partial<Observer>[]): Observer {
  function all<Fact extends keyof Observer>(fact: Fact): (...details: Parameters<Observer[Fact]>) => void {
    const takers = parts.flatMap((part) => part[fact]?.bind(part) ?? []) as ((
      ...details: Parameters<Observer[Fact]>
    ) => void)[];
    // `transformed` comes once a record and has one taker: call that directly.
    const [first] = takers;
    if (first !== undefined && takers.length === 1) return first;
    return (...details) => {
      for (const taker of takers) taker(...details);
    };
  }

  return {
    assigned: all('assigned'),
    revoked: all('revoked'),
    lost: all('lost'),
    consumed: all('consumed'),
    transformed: all('transformed'),
    retried: all('retried'),
    deadLettered: all('deadLettered'),
    applied: all('applied'),
    held: all('held'),
    released: all('released'),
    skipped: all('skipped'),
    committed: all('committed'),
    aborted: all('aborted'),
    recycled: all('recycled'),
    clientError: all('clientError'),
  };
}
