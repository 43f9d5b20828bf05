/** The fields of Block Kit that hold words. */
const TEXT_FIELDS = ['text', 'fallback', 'title', 'alt_text'];

/**
 * The sentences of a message, a modal or a part of one. Numbers and IDs don't make a sentence another one, nor does what
 * stands in code: labels and commands.
 */
export function sentencesOf(part: unknown): readonly string[] {
  return listTexts(part).flatMap(splitSentences);
}

function listTexts(value: unknown, field = ''): string[] {
  if (typeof value === 'string') return TEXT_FIELDS.includes(field) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((each) => listTexts(each, field));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => listTexts(each, name));
}

function splitSentences(text: string): string[] {
  return text
    .replace(/`[^`\n]*`/g, '`…`')
    .split(/(?<=[.!?])\s+|\n/)
    .map((sentence) =>
      sentence
        .replace(/[A-Z][A-Z0-9]{8,}/g, 'ID')
        .replace(/[\d.,]+/g, '#')
        .trim(),
    )
    .filter((sentence) => sentence !== '');
}
