import { finish, type Steps } from './steps.ts';

/** Typed text and labels can be of any length: longer words are compared by their beginning. */
const MOST_LETTERS = 64;
/** More typing mistakes than this are another word. */
const MOST_EDITS = 6;
/** Cells of the comparison's table for one search: a few milliseconds. A suggestion isn't worth more. */
const MOST_WORK = 1_000_000;

const PAUSE_AFTER = 100_000;

/** More that are equally near are of no help. */
const MOST_TIES = 20;

/**
 * Finds the candidate that the user probably meant: at most a third of its letters differ (Damerau–Levenshtein), and at most
 * six. Used for labels, subcommands and roles alike. Its time is limited, however many and long the candidates are: of
 * too many, the last ones are skipped.
 */
export function findNearest(typed: string, candidates: readonly string[]): string | undefined {
  return finish(findNearestInSteps(typed, candidates))[0];
}

/** `findNearest`, with pauses: all candidates that are equally near. */
export function* findNearestInSteps(typed: string, candidates: readonly string[]): Steps<readonly string[]> {
  const wanted = beginningOf(typed);
  const rows = [0, 1, 2].map(() => new Uint8Array(MOST_LETTERS + 2));
  let nearest: string[] = [];
  let fewest = Number.POSITIVE_INFINITY;
  let work = 0;
  let pauseAt = PAUSE_AFTER;
  for (const [at, candidate] of candidates.entries()) {
    if (work > pauseAt || at % 1000 === 999) {
      yield;
      pauseAt = work + PAUSE_AFTER;
    }
    const longest = Math.min(Math.max(typed.length, candidate.length), MOST_LETTERS);
    const third = Math.max(1, Math.floor(longest / 3));
    // Only what is at least as near as the nearest so far counts.
    const allowed = Math.min(third, MOST_EDITS, fewest);
    if (Math.abs(candidate.length - typed.length) > allowed) continue;
    work += MOST_LETTERS + wanted.length * (2 * allowed + 1);
    if (work > MOST_WORK) break;
    const edits = countEdits(wanted, beginningOf(candidate), allowed, rows);
    if (edits > allowed) continue;
    if (edits < fewest) [nearest, fewest] = [[], edits];
    if (nearest.length < MOST_TIES) nearest.push(candidate);
  }
  return nearest;
}

/** Some letters are longer in lower case. */
function beginningOf(text: string): string {
  return text.slice(0, MOST_LETTERS).toLowerCase().slice(0, MOST_LETTERS);
}

/** Counts edits as long as there are no more than `most`; only the cells near the diagonal can be that few. */
function countEdits(a: string, b: string, most: number, rows: readonly Uint8Array[]): number {
  const tooMany = most + 1;
  let [beforeLast = new Uint8Array(), last = new Uint8Array(), current = new Uint8Array()] = rows;
  for (let column = 0; column <= b.length + 1; column++) last[column] = Math.min(column, tooMany);
  for (let row = 1; row <= a.length; row++) {
    const from = Math.max(1, row - most);
    const to = Math.min(b.length, row + most);
    // What is beside the diagonal's surroundings counts as too many; it is not worked out.
    current[from - 1] = from === 1 ? Math.min(row, tooMany) : tooMany;
    let least = current[from - 1] ?? tooMany;
    for (let column = from; column <= to; column++) {
      const isSame = a[row - 1] === b[column - 1];
      let edits = (last[column - 1] ?? tooMany) + (isSame ? 0 : 1);
      edits = Math.min(edits, (last[column] ?? tooMany) + 1, (current[column - 1] ?? tooMany) + 1);
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwapped) edits = Math.min(edits, (beforeLast[column - 2] ?? tooMany) + 1);
      current[column] = Math.min(edits, tooMany);
      least = Math.min(least, edits);
    }
    if (least > most) return tooMany;
    current[to + 1] = tooMany;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return last[b.length] ?? tooMany;
}
