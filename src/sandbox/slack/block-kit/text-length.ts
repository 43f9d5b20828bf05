import { isJson } from '../json.ts';

const TEXT_FIELDS = new Set(['text', 'title', 'label', 'caption', 'alt_text', 'name', 'fallback']);
const MENTIONS = new Set(['user_id', 'usergroup_id', 'channel_id', 'team_id', 'range']);

/** Counts the characters of all texts within a block, an element or a cell. */
export function textLength(part: unknown): number {
  if (Array.isArray(part)) return part.reduce((sum: number, each) => sum + textLength(each), 0);
  if (!isJson(part)) return 0;
  return Object.entries(part).reduce((sum, [name, value]) => {
    if (typeof value !== 'string') return sum + textLength(value);
    if (TEXT_FIELDS.has(name)) return sum + value.length;
    // Mentions and links without text show something, too, so they are not empty.
    return sum + (MENTIONS.has(name) || (name === 'url' && part.text === undefined) ? 1 : 0);
  }, 0);
}
