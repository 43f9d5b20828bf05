import type { GalleryPiece } from './gallery-api.ts';

/**
 * Leaves out each message that says nothing that an earlier one has not said: who reads the gallery aloud reads every
 * sentence once. Numbers and IDs don't make a sentence another one.
 */
export function withoutRepeats(pieces: readonly GalleryPiece[]): readonly GalleryPiece[] {
  const said = new Set<string>();
  return pieces.filter((piece) => {
    const sentences = listTexts(piece.payload).flatMap(splitSentences);
    const isNew = sentences.some((sentence) => !said.has(sentence));
    for (const sentence of sentences) said.add(sentence);
    return isNew;
  });
}

/** The fields of Block Kit that hold words. */
const TEXT_FIELDS = ['text', 'fallback', 'title', 'alt_text'];

function listTexts(value: unknown, field = ''): string[] {
  if (typeof value === 'string') return TEXT_FIELDS.includes(field) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((each) => listTexts(each, field));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => listTexts(each, name));
}

function splitSentences(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n/)
    .map((sentence) =>
      sentence
        .replace(/[A-Z][A-Z0-9]{8,}/g, 'ID')
        .replace(/[\d.,]+/g, '#')
        .trim(),
    )
    .filter((sentence) => sentence !== '');
}
