import { createHash } from 'node:crypto';

/** Choices that are the same again under the same seed. */
export interface Random {
  /** From 0 to 1, without 1. */
  fraction(): number;
  /** A whole number, both ends included. */
  integer(least: number, most: number): number;
  pick<T>(among: readonly T[]): T;
}

/** @param seed Any text: what has the same seed makes the same choices in the same order. */
export function createRandom(seed: string): Random {
  let drawn = 0;
  const fraction = (): number => {
    const digest = createHash('sha256').update(`${seed}/${drawn++}`).digest();
    return digest.readUInt32BE() / 2 ** 32;
  };
  const integer = (least: number, most: number): number => least + Math.floor(fraction() * (most - least + 1));
  return {
    fraction,
    integer,
    pick<T>(among: readonly T[]): T {
      if (among.length === 0) throw new Error('there is nothing to pick from');
      return among[integer(0, among.length - 1)] as T;
    },
  };
}
