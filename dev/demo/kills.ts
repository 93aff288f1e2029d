/** What is killed while the demo runs. */
export type Victim = 'worker' | 'supervisor' | 'broker' | 'process of the effects';

export interface Kill {
  readonly victim: Victim;
  readonly by: 'the demo' | 'somebody else';
  /** Where the demo chose the moment, what it found then. */
  readonly moment?: string;
}

/** Hears of whatever ends and starts on the way. */
export interface Witness {
  /** It runs, for the first time or again; the shell command is one that kills it. */
  started(victim: Victim, killCommand: string): void;
  killed(kill: Kill): void;
  /** It ended, and by no signal. */
  ended(victim: Victim, how: string): void;
}

/** `3 kills (worker 1, broker 2; by somebody else: 1)`. */
export function countKills(kills: readonly Kill[]): string {
  const counts = new Map<Victim, number>();
  for (const { victim } of kills) counts.set(victim, (counts.get(victim) ?? 0) + 1);
  const each = [...counts].map(([victim, count]) => `${victim} ${count}`).join(', ');
  const foreign = kills.filter(({ by }) => by === 'somebody else').length;
  return `${kills.length} kills (${each}${foreign === 0 ? '' : `; by somebody else: ${foreign}`})`;
}

export function withArticle(victim: Victim): string {
  return victim === 'worker' || victim === 'process of the effects' ? `a ${victim}` : `the ${victim}`;
}
