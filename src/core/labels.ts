import { distance } from 'fastest-levenshtein';
import { Refusal } from './errors.ts';

/*
 * Labels are compared in these ways, and nowhere by hand:
 * - `isIdenticalLabel`: wherever another server must not be hit: deletes, power actions, approvals, exact names. Every character
 *   counts; the caller trims what was typed.
 * - `isSameLabel`: wherever a user would call two labels the same (a typed name, a second server of that label), and where
 *   the hosting service may have trimmed or changed the label that the app sent.
 * Buttons that name many servers have short forms of their labels (`shortenLabel`), which are compared with `isIdenticalLabel`, too.
 */

export function isIdenticalLabel(a: string, b: string): boolean {
  return a === b;
}

/** Whether users would call two labels the same: ignores spaces around them, letter case and full-width letters. */
export function isSameLabel(a: string, b: string): boolean {
  return foldLabel(a) === foldLabel(b);
}

export function foldLabel(label: string): string {
  return toCompatible(label).trim().toLowerCase();
}

/** The time to put a text's accents in order grows with the square of their number. */
const MOST_NORMALIZED = 1000;

/** Normalizes a text to Unicode's compatible form (NFKC), unless it is longer than 1,000 characters. */
export function toCompatible(text: string): string {
  return text.length > MOST_NORMALIZED ? text : text.normalize('NFKC');
}

/** Twenty labels of this size fit into the value of a button, which holds 2,000 characters, escapes included. */
const MAX_BRIEF_JSON = 64;

/** Shortens a label for a button that names many servers. A long one loses its middle, since labels differ at their ends. */
export function shortenLabel(label: string): string {
  for (let kept = 32; kept > 0 && JSON.stringify(label).length > MAX_BRIEF_JSON; kept--) {
    const brief = `${label.slice(0, kept)}…${label.slice(-kept)}`;
    if (JSON.stringify(brief).length <= MAX_BRIEF_JSON) return brief;
  }
  return label;
}

/** Returns what a user has to type to delete a server: its label, or its ID if the label can't be typed. */
export function deletionWord({ id, label }: { readonly id: number; readonly label: string }): string {
  const trimmed = label.trim();
  const isTypeable =
    trimmed !== '' && trimmed.length <= 150 && !/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(trimmed);
  return isTypeable ? trimmed : String(id);
}

/** The longest label of a new server. The hosting API's own limit is not documented (docs/hosting-api.md 2.9). */
export const LABEL_MAX_CHARACTERS = 255;

/** Reads the label for a new server: 1 to 255 characters without control characters, trimmed. @throws Refusal `bad_label` */
export function parseLabel(typed: string): string {
  const label = typed.trim();
  if (label === '') throw new Refusal('bad_label', { problem: 'it’s empty' });
  if (label.length > LABEL_MAX_CHARACTERS) {
    throw new Refusal('bad_label', { problem: `it’s longer than ${LABEL_MAX_CHARACTERS} characters` });
  }
  // Half of a surrogate pair (Cs) would come back from the database changed, and a password sealed with it couldn't be opened.
  if (/[\p{Cc}\p{Cs}]/u.test(label))
    throw new Refusal('bad_label', { problem: 'it has a line break or an invalid character' });
  return label;
}

/** The pattern of a grant that covers all servers. */
export const EVERY_SERVER = '';

const LONGEST_PATTERN = 100;

/** Whether a label matches a pattern, ignoring case: `*` stands for any characters, `\` escapes the next one. */
export function matchesPattern(pattern: string, label: string): boolean {
  if (pattern === EVERY_SERVER) return true;
  const text = label.toLowerCase();
  const parts = pattern
    .toLowerCase()
    .split(STAR)
    .map((part) => part.replace(/\\(.)/gsu, '$1'));
  const [first = '', ...others] = parts;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  // The leftmost place of each part leaves the most room for the next one, so no other place has to be tried.
  let end = first.length;
  for (const part of others) {
    const at = text.indexOf(part, end);
    if (at === -1) return false;
    end = at + part.length;
  }
  return end <= text.length - last.length;
}

/** A star that isn't escaped: after an even number of backslashes. */
const STAR = /(?<=(?<!\\)(?:\\\\)*)\*/;

/** Returns the pattern that matches only this label. @throws Error for an empty label, whose pattern would match every server */
export function exactPattern(label: string): string {
  if (label === '') throw new Error('no pattern fits an empty label alone');
  return label.replace(/[\\*]/g, '\\$&');
}

/** Reads a typed pattern of 1 to 100 characters; undefined if it is invalid. `*` alone becomes `EVERY_SERVER`. */
export function findPattern(typed: string): string | undefined {
  const pattern = typed.trim();
  if (pattern === '' || [...pattern].length > LONGEST_PATTERN || /\p{Cc}/u.test(pattern)) return undefined;
  return /^\*+$/.test(pattern) ? EVERY_SERVER : pattern;
}

/** The hyphens, dashes and minus signs that keyboards and "smart punctuation" write in place of `-`. */
const DASHES = /[\u2010-\u2015\u2043\u2212\uFE58\uFE63\uFF0D]/gu;
/** Invisible characters that come along with copied text, such as those that `plainLabel` puts around right-to-left labels. */
const INVISIBLE = /\p{Cf}|\uFE0E|\uFE0F/gu;
/** Longer names keep their quotation marks, since removing each pair takes a look at the whole name. */
const LONGEST_NAME = 1000;
const TRAILING = /[\s.,;:!?]+$/u;
const QUOTED = /^(?:"(.+)"|'(.+)'|`+([^`]+)`+|\u201C(.+)\u201D|\u2018(.+)\u2019|\u00AB(.+)\u00BB)$/su;

/** Removes from a name the differences that keyboards make: letter case, width, kinds of dashes, numbers of spaces. */
export function foldName(name: string): string {
  return foldLabel(name).replace(INVISIBLE, '').replace(DASHES, '-').replace(/\s+/gu, ' ').trim();
}

/**
 * Folds a name as `foldName` does, and removes quotation marks around it and punctuation after it. Removes quotation marks only
 * in pairs: a single one may be what is left of a name with a space in it.
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

/** Lists what a typed name may mean: the folded name with its quotation marks and punctuation, and without. */
export function readingsOf(typed: string): readonly string[] {
  return [...new Set([foldName(typed), bareName(typed)])].filter((each) => each !== '');
}

/** Typed text and labels can be of any length, so only their beginnings are compared. */
const MOST_LETTERS = 64;
/** The most typing mistakes in what still counts as the same word. */
const MOST_EDITS = 6;
/** The most candidates that are returned as equally near: more are of no help. */
const MOST_TIES = 20;

/** Finds the candidate that the user probably meant: at most a third of its letters, and at most six, differ. */
export function findNearest(typed: string, candidates: readonly string[]): string | undefined {
  return findAllNearest(typed, candidates)[0];
}

/** Lists the candidates that are nearest, at most twenty, by the rule of `findNearest`. */
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

/** Cut again after lower-casing, since some letters become longer. */
function beginningOf(text: string): string {
  return text.slice(0, MOST_LETTERS).toLowerCase().slice(0, MOST_LETTERS);
}

/** Counts typing mistakes. Two swapped letters are one mistake. */
export function countEdits(a: string, b: string): number {
  const edits = distance(a, b);
  return edits === 2 && isSwapped(a, b) ? 1 : edits;
}

function isSwapped(a: string, b: string): boolean {
  let at = 0;
  while (a[at] === b[at]) at++;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}
