import { afterAll } from 'vitest';

const isLong = process.env.ATTACKS === 'long';

/** How often an attack is tried: a few times in every test run, and more often in `npm run test:attacks`. */
export function triesOf({ short, long }: { readonly short: number; readonly long: number }): number {
  return isLong ? long : short;
}

/** Counts the tries of an attack; the long form prints their number. */
export function countTries(attack: string): () => void {
  let tries = 0;
  afterAll(() => {
    if (isLong) process.stdout.write(`${attack}: ${tries} tries\n`);
  });
  return () => {
    tries++;
  };
}
