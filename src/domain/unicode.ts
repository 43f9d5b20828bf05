/**
 * A text in Unicode's compatible form (NFKC), made in pieces: to put accents in order takes the square of their number, which
 * was a second for one message. Only a word of hundreds of letters and accents is in several pieces.
 */
export function toCompatible(text: string): string {
  return text.replace(PIECE, (piece) => piece.normalize('NFKC'));
}

/** An accent belongs to the letter before it. */
const PIECE = /\p{ASCII}?\P{ASCII}{1,256}/gu;
