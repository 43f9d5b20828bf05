export const isLong = process.env.ATTACKS === 'long';

/** How often an attack is tried: a few times in every test run, and more often in `npm run test:attacks`. */
export function triesOf({ short, long }: { readonly short: number; readonly long: number }): number {
  return isLong ? long : short;
}

export type Dice = ReturnType<typeof makeDice>;

/** Makes dice: random choices that the same seed makes again (mulberry32, 32 bits of state). */
export function makeDice(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** From 0 to `below`, exclusive. */
  const number = (below: number) => Math.floor(next() * below);
  /** True in this share of all cases. */
  const chance = (share: number) => next() < share;
  const pick = <One>(all: readonly One[]): One | undefined => all[number(all.length)];
  return { next, number, chance, pick };
}
