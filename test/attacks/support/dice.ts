/** Random choices that the same seed makes again. */
export interface Dice {
  /** From 0 to `below`, exclusive. */
  number(below: number): number;
  /** True in this share of all cases. */
  chance(share: number): boolean;
  pick<One>(all: readonly One[]): One | undefined;
}

/** Makes dice (mulberry32, 32 bits of state). */
export function makeDice(seed: number): Dice {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const number = (below: number) => Math.floor(next() * below);
  return { number, chance: (share) => next() < share, pick: (all) => all[number(all.length)] };
}
