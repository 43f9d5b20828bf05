import { isJson } from '../../json.ts';

const MASKED = '[masked]';
const SECRET_BLOCK = 'rich_text_preformatted';
const LOOKS_LIKE_JSON = /^\s*[[{]/;

/**
 * A body of JSON without what only one user may see: apps show a root password in a preformatted block,
 * and every user of the sandbox sees the traffic.
 */
export function maskJson(part: unknown): unknown {
  if (typeof part === 'string') return maskText(maskInside(part));
  if (Array.isArray(part)) return part.map(maskJson);
  if (!isJson(part)) return part;
  if (part.type === SECRET_BLOCK) return { type: SECRET_BLOCK, elements: [{ type: 'text', text: MASKED }] };
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, maskJson(value)]));
}

/** API keys, and the links that take one. */
export function maskText(text: string): string {
  return text.replace(/hk_[\w-]{6,}/g, MASKED).replace(/(\/connect(?:\/|%2F))[\w-]{16,}/gi, `$1${MASKED}`);
}

/** A text that is JSON itself: Slack takes blocks and views in both ways. What can't be read can't be shown. */
function maskInside(text: string): string {
  if (!text.includes(SECRET_BLOCK)) return text;
  const inside = LOOKS_LIKE_JSON.test(text) ? parse(text) : undefined;
  return inside === undefined ? MASKED : JSON.stringify(maskJson(inside));
}

/** Reads JSON that is an object or a list; undefined when the text is neither. */
export function parse(text: string): unknown {
  if (!LOOKS_LIKE_JSON.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
