import { distance } from 'fastest-levenshtein';
import { Refusal } from './errors.ts';

/**
 * Labels are compared in three ways, and nowhere by hand:
 * - `isIdenticalLabel`: before a server is deleted. Every character counts.
 * - `isSameLabel`: wherever a user would call two labels the same (a name that was typed, a second server of that label)
 *   and where the hosting service may have trimmed or changed the label that we sent.
 * - `isFrozenLabel`: against the label that was stored with a confirmation, which may be shortened.
 */

/** Exactly the same, character by character: for deletes, where another server must never be meant. */
export function isIdenticalLabel(a: string, b: string): boolean {
  return a === b;
}

/** The same for users: spaces around it, letter case and compatible characters (full-width letters) don't count. */
export function isSameLabel(a: string, b: string): boolean {
  return foldLabel(a) === foldLabel(b);
}

/** Whether a server still has the label that was frozen with a confirmation (`freezeLabel`). */
export function isFrozenLabel(label: string, frozen: string): boolean {
  return isIdenticalLabel(freezeLabel(label), frozen);
}

/** A label as `isSameLabel` compares it. */
export function foldLabel(label: string): string {
  return toCompatible(label).trim().toLowerCase();
}

/** No label is longer, and the time to put a text's accents in order grows with the square of their number. */
const MOST_NORMALIZED = 1000;

/** A text in Unicode's compatible form (NFKC). Longer ones stay as they are. */
export function toCompatible(text: string): string {
  return text.length > MOST_NORMALIZED ? text : text.normalize('NFKC');
}

/** A modal's metadata holds 3,000 characters, escapes included. */
const MAX_FROZEN_JSON = 2500;
const SHORTENED_LENGTH = 400;

/** The part of a label that is stored with a confirmation in a modal: all of it, unless it is too long for Slack. */
export function freezeLabel(label: string): string {
  if (JSON.stringify(label).length <= MAX_FROZEN_JSON) return label;
  return `${label.slice(0, SHORTENED_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Twenty of them fit into the value of a button, which holds 2,000 characters, escapes included. */
const MAX_BRIEF_JSON = 64;

/** The part of a label that a button carries which names many servers. Labels differ at their ends: a long one loses its middle. */
export function freezeBriefly(label: string): string {
  for (let kept = 32; kept > 0 && JSON.stringify(label).length > MAX_BRIEF_JSON; kept--) {
    const brief = `${label.slice(0, kept)}…${label.slice(-kept)}`;
    if (JSON.stringify(brief).length <= MAX_BRIEF_JSON) return brief;
  }
  return label;
}

/** What has to be typed to delete a server: its label, or its ID where the label can't be typed. */
export function deletionWord({ id, label }: { readonly id: number; readonly label: string }): string {
  const trimmed = label.trim();
  const isTypeable =
    trimmed !== '' && trimmed.length <= 150 && !/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(trimmed);
  return isTypeable ? trimmed : String(id);
}

/** More than anyone reads. The hosting API's own limit is not documented. */
export const LABEL_MAX_CHARACTERS = 255;

/** Reads the label for a new server. @throws Refusal `bad_label` */
export function parseLabel(typed: string): string {
  const label = typed.trim();
  if (label === '') throw new Refusal('bad_label', { problem: 'it is empty' });
  if (label.length > LABEL_MAX_CHARACTERS) {
    throw new Refusal('bad_label', { problem: `it is longer than ${LABEL_MAX_CHARACTERS} characters` });
  }
  if (/\p{Cc}/u.test(label))
    throw new Refusal('bad_label', { problem: 'it has a line break or a control character' });
  return label;
}

/** The pattern of a grant that is not limited to certain servers. */
export const EVERY_SERVER = '';

const LONGEST_PATTERN = 100;

/** Whether a label matches a pattern, ignoring case: `*` stands for any characters, `\` escapes the next one. */
export function matchesPattern(pattern: string, label: string): boolean {
  if (pattern === EVERY_SERVER) return true;
  const units = unitsOf(pattern);
  const text = label.toLowerCase();
  let at = 0;
  let letter = 0;
  let star: { at: number; letter: number } | undefined;
  // Backtracks to the last star only, so that no pattern takes long.
  while (letter < text.length) {
    if (units[at] === STAR) {
      star = { at: at++, letter };
    } else if (units[at] === text.charCodeAt(letter)) {
      at++;
      letter++;
    } else if (star) {
      at = star.at + 1;
      letter = ++star.letter;
    } else {
      return false;
    }
  }
  return units.slice(at).every((rest) => rest === STAR);
}

const STAR = -1;
/** A list of thousands of labels is compared with the patterns of all of a user's roles. */
const unitsByPattern = new Map<string, readonly number[]>();
const MOST_PATTERNS = 1000;

/** The UTF-16 units that have to match, or `STAR`. */
function unitsOf(pattern: string): readonly number[] {
  const known = unitsByPattern.get(pattern);
  if (known) return known;
  const tokens = pattern.toLowerCase().match(/\\.|./gsu) ?? [];
  const units = tokens.flatMap((token) =>
    token === '*'
      ? [STAR]
      : literalOf(token)
          .split('')
          .map((unit) => unit.charCodeAt(0)),
  );
  if (unitsByPattern.size >= MOST_PATTERNS) unitsByPattern.clear();
  unitsByPattern.set(pattern, units);
  return units;
}

/** The pattern that matches only this label; throws for an empty one, which would match every server. */
export function exactPattern(label: string): string {
  if (label === '') throw new Error('no pattern fits an empty label alone');
  return label.replace(/[\\*]/g, '\\$&');
}

/** Reads a typed pattern; undefined if it is invalid. `*` alone means every server. */
export function findPattern(typed: string): string | undefined {
  const pattern = typed.trim();
  if (pattern === '' || [...pattern].length > LONGEST_PATTERN || /\p{Cc}/u.test(pattern)) return undefined;
  return /^\*+$/.test(pattern) ? EVERY_SERVER : pattern;
}

function literalOf(token: string): string {
  return token.length > 1 && token.startsWith('\\') ? token.slice(1) : token;
}

/** Hyphens, dashes and minus signs that keyboards and "smart punctuation" write in place of `-`. */
const DASHES = /[\u2010-\u2015\u2043\u2212\uFE58\uFE63\uFF0D]/gu;
/** Invisible characters that come along when text is copied, ours around right-to-left labels included. */
const INVISIBLE = /\p{Cf}|\uFE0E|\uFE0F/gu;
/** Longer ones have no quotation marks to be taken off: each pair takes a look at the whole name. */
const LONGEST_NAME = 1000;
const TRAILING = /[\s.,;:!?]+$/u;
const QUOTED = /^(?:"(.+)"|'(.+)'|`+([^`]+)`+|\u201C(.+)\u201D|\u2018(.+)\u2019|\u00AB(.+)\u00BB)$/su;

/** A name without the differences that a keyboard makes: letter case, width, kinds of dashes, numbers of spaces. */
export function foldName(name: string): string {
  return foldLabel(name).replace(INVISIBLE, '').replace(DASHES, '-').replace(/\s+/gu, ' ').trim();
}

/**
 * The same without quotation marks around it and punctuation after it. Quotes count only in pairs: a single one may be what
 * is left of a name with a space in it.
 */
export function bareName(typed: string): string {
  let name = foldName(typed);
  if (name.length > LONGEST_NAME) return name;
  for (;;) {
    const cut = name.replace(TRAILING, '');
    const quoted = QUOTED.exec(cut)?.slice(1).find(Boolean);
    const bare = (quoted ?? cut).trim();
    if (bare === '' || bare === name) return name;
    name = bare;
  }
}

/** The ways in which a label may be written that this name stands for: with quotation marks and punctuation, and without. */
export function readingsOf(typed: string): readonly string[] {
  return [...new Set([foldName(typed), bareName(typed)])].filter((each) => each !== '');
}

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
