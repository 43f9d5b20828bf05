import { afterAll } from 'vitest';

export const isLong = process.env.ATTACKS === 'long';

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

/** Says what only the long form runs. */
export function sayLeftOut(count: number, what: string): void {
  if (count > 0) process.stderr.write(`${count} ${what} are only in the long form: npm run test:attacks\n`);
}
