import { type Contender, CONTENDERS } from './contender.ts';
import { untilQuiet } from './quiet.ts';
import { type Rig, say } from './rig.ts';

/** One run of each contender, the one right before or after the other. */
export type Round<Result> = Readonly<Record<Contender, Result>>;

/** What is measured, and what is wrong with the output it was measured on: null where that is right. */
export interface Measured {
  readonly wrong: string | null;
}

/** Runs both contenders in turn, in every other round the other one first. `measure` gets a name for each run. */
export async function inRounds<Result extends Measured>(
  rig: Rig,
  part: string,
  rounds: number,
  measure: (contender: Contender, run: string) => Promise<Result>,
): Promise<Round<Result>[]> {
  const results: Round<Result>[] = [];
  for (let round = 1; round <= rounds; round++) {
    const measured = {} as Record<Contender, Result>;
    for (const contender of round % 2 === 1 ? CONTENDERS : CONTENDERS.toReversed()) {
      const name = `${part}, round ${round}, ${contender}`;
      const busyCores = await untilQuiet(rig.patienceMs);
      if (busyCores !== null) rig.doubts.push(`${name}: other work kept ${busyCores.toFixed(1)} cores busy before it`);
      const result = await measure(contender, name.replaceAll(/\W+/g, '-'));
      if (result.wrong !== null) rig.doubts.push(`${name}: WRONG, does not count: ${result.wrong}`);
      say(`${name}: ${JSON.stringify(result)}`);
      measured[contender] = result;
    }
    results.push(measured);
  }
  return results;
}
