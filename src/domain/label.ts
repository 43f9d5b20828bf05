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
