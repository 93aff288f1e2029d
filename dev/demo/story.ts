import { countKills, type Kill, type Victim, withArticle, type Witness } from './kills.ts';

/** Tells, a line each, what is killed and started, and keeps count of the kills. */
export class Story implements Witness {
  /** Prints a line. */
  say: (line: string) => void = console.log;
  readonly #kills: Kill[] = [];
  readonly #known = new Set<Victim>();

  /** Every kill so far, in words. */
  get kills(): string {
    return countKills(this.#kills);
  }

  started(victim: Victim, killCommand: string): void {
    const children = victim === 'supervisor' ? ', or its children, the workers' : '';
    this.say(
      this.#known.has(victim)
        ? `started again: ${withArticle(victim)}: ${killCommand}`
        : `you may kill ${withArticle(victim)} meanwhile, as often as you like: ${killCommand}${children}`,
    );
    this.#known.add(victim);
  }

  killed(kill: Kill): void {
    this.#kills.push(kill);
    const { victim, by, moment } = kill;
    this.say(`killed: ${withArticle(victim)}, by ${by}${moment === undefined ? '' : `, ${moment}`}`);
  }

  ended(victim: Victim, how: string): void {
    this.say(`ended by itself: ${withArticle(victim)}: ${how}`);
  }
}
