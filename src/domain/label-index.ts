/** Letters, digits, and what joins them in host names: "web-1.example.com" is one run, "web 1" are two. */
const RUN = /[\p{L}\p{N}](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}])?/gu;

/** One run of a text, and its position. */
export interface TextRun {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export function splitRuns(text: string): readonly TextRun[] {
  return [...text.matchAll(RUN)].map((match) => ({
    text: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** Finds labels in a text, however many there are, at the cost of a few lookups for each of its words. */
export interface LabelIndex<One> {
  /** The entries with the longest label that begins at this run and matches whole runs, and how many runs it has. */
  findAt(
    runs: readonly TextRun[],
    at: number,
    text: string,
  ): { readonly found: readonly One[]; readonly runs: number } | undefined;
  /** What has exactly this label. */
  find(label: string): readonly One[];
}

/** A label of more words isn't looked for. */
const MOST_RUNS = 12;

interface Entry<One> {
  readonly label: string;
  /** Where its first run begins. */
  readonly offset: number;
  readonly ones: One[];
}

/** Labels and texts have to be folded in the same way. A label without letters and digits isn't found. */
export function indexLabels<One>(
  labels: readonly { readonly label: string; readonly one: One }[],
): LabelIndex<One> {
  const byRuns = new Map<string, Entry<One>[]>();
  const byLabel = new Map<string, Entry<One>>();
  const lengths = new Set<number>();
  for (const { label, one } of labels) {
    const known = byLabel.get(label);
    if (known) {
      known.ones.push(one);
      continue;
    }
    const runs = splitRuns(label);
    if (runs.length === 0 || runs.length > MOST_RUNS) continue;
    const entry = { label, offset: runs[0]?.start ?? 0, ones: [one] };
    byLabel.set(label, entry);
    lengths.add(runs.length);
    const key = keyOf(runs);
    const same = byRuns.get(key);
    if (same) same.push(entry);
    else byRuns.set(key, [entry]);
  }
  const longestFirst = [...lengths].sort((a, b) => b - a);
  return {
    find: (label) => byLabel.get(label)?.ones ?? [],
    findAt: (runs, at, text) => {
      const start = runs[at]?.start ?? 0;
      for (const length of longestFirst) {
        if (at + length > runs.length) continue;
        const same = byRuns.get(keyOf(runs.slice(at, at + length))) ?? [];
        const found = same.filter(({ label, offset }) => text.startsWith(label, start - offset));
        if (found.length > 0) return { found: found.flatMap(({ ones }) => ones), runs: length };
      }
      return undefined;
    },
  };
}

function keyOf(runs: readonly TextRun[]): string {
  return runs.map(({ text }) => text).join(' ');
}
