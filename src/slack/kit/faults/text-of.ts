import { isFields } from './check.ts';

const TEXT_FIELDS = new Set(['text', 'title', 'label', 'caption', 'alt_text', 'name', 'fallback']);

/** Counts the characters of all texts within a block, an element or a cell. */
export function measureText(part: unknown): number {
  if (Array.isArray(part)) return part.reduce((sum: number, each) => sum + measureText(each), 0);
  if (!isFields(part)) return 0;
  return Object.entries(part).reduce((sum, [name, value]) => {
    if (typeof value === 'string')
      return TEXT_FIELDS.has(name) ? sum + value.length : sum + ownText(part, name);
    return sum + measureText(value);
  }, 0);
}

/** Mentions, links without text and colours show something, too; they are never empty. */
function ownText(part: Readonly<Record<string, unknown>>, name: string): number {
  const showsItself = ['user_id', 'usergroup_id', 'channel_id', 'team_id', 'range'].includes(name);
  return showsItself || (name === 'url' && part.text === undefined) ? 1 : 0;
}
