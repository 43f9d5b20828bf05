import { randomInt } from 'node:crypto';

const LENGTH = 24;
// Punctuation on purpose: `<`, `&`, `*` and the backtick are what chat markup would mangle.
const SETS = ['abcdefghijkmnopqrstuvwxyz', 'ABCDEFGHJKLMNPQRSTUVWXYZ', '23456789', '!#$%&*+-.:;<=>?@^_~`|'];

const pick = (characters: string) => characters.charAt(randomInt(characters.length));

/** A random root password of 24 characters, at least one of each kind, punctuation included. */
export function newRootPassword(): string {
  const characters = SETS.map(pick);
  while (characters.length < LENGTH) characters.push(pick(SETS.join('')));
  for (let last = characters.length - 1; last > 0; last -= 1) {
    const other = randomInt(last + 1);
    [characters[last], characters[other]] = [characters[other] ?? '', characters[last] ?? ''];
  }
  return characters.join('');
}
