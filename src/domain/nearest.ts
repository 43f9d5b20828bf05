import { distance } from 'fastest-levenshtein';

/** Typed text and labels can be of any length: only their beginnings count. */
const MOST_LETTERS = 64;
/** More typing mistakes than this are another word. */
const MOST_EDITS = 6;
/** More that are equally near are of no help. */
const MOST_TIES = 20;

/**
 * Finds the candidate that the user probably meant: at most a third of its letters differ, and at most six. Used for labels,
 * subcommands and roles alike.
 */
export function findNearest(typed: string, candidates: readonly string[]): string | undefined {
  return findAllNearest(typed, candidates)[0];
}

/** All candidates that are equally near. */
export function findAllNearest(typed: string, candidates: readonly string[]): readonly string[] {
  const wanted = beginningOf(typed);
  let nearest: string[] = [];
  let fewest = MOST_EDITS;
  for (const candidate of candidates) {
    const longest = Math.min(Math.max(typed.length, candidate.length), MOST_LETTERS);
    // Only what is at least as near as the nearest so far counts.
    const allowed = Math.min(Math.max(1, Math.floor(longest / 3)), fewest);
    if (Math.abs(candidate.length - typed.length) > allowed) continue;
    const edits = countEdits(wanted, beginningOf(candidate));
    if (edits > allowed) continue;
    if (edits < fewest) nearest = [];
    fewest = edits;
    if (nearest.length < MOST_TIES) nearest.push(candidate);
  }
  return nearest;
}

/** Some letters are longer in lower case. */
function beginningOf(text: string): string {
  return text.slice(0, MOST_LETTERS).toLowerCase().slice(0, MOST_LETTERS);
}

/** Two letters in the wrong order are one mistake. */
function countEdits(a: string, b: string): number {
  const edits = distance(a, b);
  return edits === 2 && isSwapped(a, b) ? 1 : edits;
}

function isSwapped(a: string, b: string): boolean {
  let at = 0;
  while (a[at] === b[at]) at++;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}
