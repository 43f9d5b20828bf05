import type { GalleryPiece, SentenceRow } from './gallery-api.ts';
import type { Place } from './groups.ts';
import { sentencesOf } from './sentences.ts';

/** A surface as it is drawn, and where. */
export type DrawnPiece = Exclude<GalleryPiece, { readonly kind: 'sentences' }> &
  Pick<Place, 'family' | 'row'>;

/**
 * The gallery, so that who reads it aloud reads every sentence once: what says nothing new is left out, and of a
 * family only the first is drawn in full; of the others, the parts that say something new, in one list.
 */
export function arrange(drawn: readonly DrawnPiece[]): readonly GalleryPiece[] {
  const said = new Set<string>();
  const isNew = (part: unknown) => sentencesOf(part).some((sentence) => !said.has(sentence));
  const pieces: GalleryPiece[] = [];
  const families = new Map<string, SentenceRow[] | 'drawn'>();
  for (const { family, row = '', ...piece } of drawn) {
    if (!isNew(piece.payload)) continue;
    const known = family === undefined ? undefined : families.get(family);
    if (family === undefined || known === undefined) {
      pieces.push(piece);
      if (family !== undefined) families.set(family, 'drawn');
    } else {
      const rows = known === 'drawn' ? [] : known;
      rows.push(makeRow(row, piece, isNew));
      families.set(family, rows);
      if (known === 'drawn') pieces.push(familyOf(family, piece.group, rows));
    }
    for (const sentence of sentencesOf(piece.payload)) said.add(sentence);
  }
  return pieces;
}

function familyOf(family: string, group: string, rows: readonly SentenceRow[]): GalleryPiece {
  const name = `${family}: the other variants`;
  return { kind: 'sentences', id: slugOf(`${group} ${name}`), group, name, rows };
}

function makeRow(name: string, piece: DrawnPiece, isNew: (part: unknown) => boolean): SentenceRow {
  const { blocks } = piece.payload;
  const inBlocks = new Set(sentencesOf(blocks));
  // Buttons say little without the words above them.
  const isShown = (at: number) =>
    isNew(blocks[at]) || (blocks[at + 1]?.type === 'actions' && isNew(blocks[at + 1]));
  const shown = { name, blocks: blocks.filter((_, at) => isShown(at)) };
  if (piece.kind !== 'message') return shown;
  const { text } = piece.payload;
  const isSaid = sentencesOf({ text }).every((sentence) => inBlocks.has(sentence)) || !isNew({ text });
  return isSaid ? shown : { ...shown, notification: text };
}

/** A name as part of an address. */
export function slugOf(words: string): string {
  return words.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}
