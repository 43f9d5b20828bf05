import { foldLabel } from './label.ts';

/** Hyphens, dashes and minus signs that keyboards and "smart punctuation" write in place of `-`. */
const DASHES = /[\u2010-\u2015\u2043\u2212\uFE58\uFE63\uFF0D]/gu;
/** Invisible characters that come along when text is copied, ours around right-to-left labels included. */
const INVISIBLE = /\p{Cf}|\uFE0E|\uFE0F/gu;
/** Longer ones have no quotation marks to be taken off: each pair takes a look at the whole name. */
const MOST_CHARACTERS = 1000;
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
  if (name.length > MOST_CHARACTERS) return name;
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
