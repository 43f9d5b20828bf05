/** Work on many servers that can pause at every `yield`, so that it doesn't keep other users waiting (docs/design.md 7.7). */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** How many elements one step takes: about a millisecond with the longest labels. */
const CHUNK = 64;

/** Long enough that pauses cost little, and short enough that no other user notices. */
const MOST_MS = 5;

/**
 * Does the work, and lets everything else that is due go first, before all but the shortest work and after every few
 * milliseconds: twenty searches in a row are no longer than one (docs/design.md 7.7).
 */
export async function runInSteps<Result>(
  steps: Steps<Result>,
  { elapsed, sleep }: { elapsed(): number; sleep(ms: number): Promise<void> },
): Promise<Result> {
  for (let pauseAt = Number.NEGATIVE_INFINITY; ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (elapsed() < pauseAt) continue;
    await sleep(0);
    pauseAt = elapsed() + MOST_MS;
  }
}

/** Does the work without a pause: for a few elements. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** `all.map(convert)`, with pauses. */
export function* mapInSteps<One, Other>(all: readonly One[], convert: (one: One) => Other): Steps<Other[]> {
  const converted: Other[] = [];
  for (const [at, one] of all.entries()) {
    if (at > 0 && at % CHUNK === 0) yield;
    converted.push(convert(one));
  }
  return converted;
}

/** `all.filter(isWanted)`, with pauses. */
export function* filterInSteps<One>(all: readonly One[], isWanted: (one: One) => boolean): Steps<One[]> {
  const wanted = yield* mapInSteps(all, isWanted);
  return all.filter((_, at) => wanted[at]);
}

/** `all.toSorted(compare)`, with pauses: sorts chunks, and merges them two by two. */
export function* sortInSteps<One>(all: readonly One[], compare: (a: One, b: One) => number): Steps<One[]> {
  let runs: One[][] = [];
  for (let from = 0; from < all.length; from += CHUNK) {
    if (from > 0) yield;
    runs.push(all.slice(from, from + CHUNK).sort(compare));
  }
  while (runs.length > 1) {
    const merged: One[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* merge(runs[at] ?? [], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<One>(
  left: readonly One[],
  right: readonly One[],
  compare: (a: One, b: One) => number,
): Steps<One[]> {
  const merged: One[] = [];
  let [fromLeft, fromRight] = [0, 0];
  for (;;) {
    const [a, b] = [left[fromLeft], right[fromRight]];
    if (a === undefined || b === undefined) break;
    if (merged.length % CHUNK === CHUNK - 1) yield;
    const isLeft = compare(a, b) <= 0;
    merged.push(isLeft ? a : b);
    if (isLeft) fromLeft++;
    else fromRight++;
  }
  return [...merged, ...left.slice(fromLeft), ...right.slice(fromRight)];
}
