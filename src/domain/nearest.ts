/**
 * Finds the candidate that the user probably meant: at most a third of its letters differ (Damerau–Levenshtein).
 * Used for labels, subcommands and roles alike.
 */
export function findNearest(typed: string, candidates: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase().slice(0, MOST_LETTERS);
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / 3));
    if (Math.abs(candidate.length - wanted.length) > allowed) continue;
    const edits = countEdits(wanted, candidate.toLowerCase().slice(0, MOST_LETTERS));
    if (edits <= allowed && edits < fewest) [nearest, fewest] = [candidate, edits];
  }
  return nearest;
}

/** Typed text can be of any length: longer words are compared by their beginning. */
const MOST_LETTERS = 64;

function countEdits(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const choices = [
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      ];
      if (swapped) choices.push((beforeLast[column - 2] ?? 0) + 1);
      current.push(Math.min(...choices));
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length] ?? 0;
}
