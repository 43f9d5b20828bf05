import { decodeEntities, type Inline, isFollowable, plainInline } from './inline.ts';

/** Reads the text between < and >: mentions, dates, links (Slack's "Formatting message text" page). */
export function parseReference(inside: string): Inline {
  const bar = inside.indexOf('|');
  const target = bar < 0 ? inside : inside.slice(0, bar);
  const label = bar < 0 ? '' : decodeEntities(inside.slice(bar + 1));
  if (target.startsWith('@')) return { type: 'user', id: target.slice(1), label };
  if (target.startsWith('#')) return { type: 'channel', id: target.slice(1), label };
  if (target.startsWith('!subteam^')) return { type: 'group', id: target.slice(9), label };
  if (target.startsWith('!date^')) return parseDate(target, label);
  if (target.startsWith('!')) return { type: 'broadcast', range: target.slice(1) };
  const url = decodeEntities(target);
  const children = [plainInline(label || url)];
  return isFollowable(url) ? { type: 'link', url, children } : plainInline(label || url);
}

function parseDate(target: string, fallback: string): Inline {
  const [, seconds = '', format = '', url] = target.split('^');
  const date: Inline = { type: 'date', seconds: Number(seconds), format: decodeEntities(format), fallback };
  return url && isFollowable(url) ? { type: 'link', url: decodeEntities(url), children: [date] } : date;
}
