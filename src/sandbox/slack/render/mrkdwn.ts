import { formatDate } from './dates.ts';
import { channelName, groupName, personName, type Surroundings } from './names.ts';

const CODE = /```([\s\S]*?)```|`([^`\n]+)`/g;
const STYLES = [
  /(^|[\s(>])\*(\S(?:[^*\n]*\S)?)\*(?=$|[\s).,:;!?])/gm,
  /(^|[\s(>])_(\S(?:[^_\n]*\S)?)_(?=$|[\s).,:;!?])/gm,
  /(^|[\s(>])~(\S(?:[^~\n]*\S)?)~(?=$|[\s).,:;!?])/gm,
];

/** Turns mrkdwn into what a reader sees: mentions by name, dates in words, no marks of formatting. */
export function renderMrkdwn(text: string, around: Surroundings): string {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(CODE)) {
    parts.push(
      renderProse(text.slice(from, match.index), around),
      decode((match[1] ?? match[2] ?? '').trim(), around),
    );
    from = match.index + match[0].length;
  }
  parts.push(renderProse(text.slice(from), around));
  return parts.join('');
}

function renderProse(text: string, around: Surroundings): string {
  const bare = STYLES.reduce((prose, style) => prose.replace(style, '$1$2'), text);
  return decode(bare, around);
}

function decode(text: string, around: Surroundings): string {
  return decodeEntities(
    text.replace(/<([^<>]+)>/g, (_whole, inside: string) => renderReference(inside, around)),
  );
}

/** Reads & < > back from their entities. */
export function decodeEntities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function renderReference(inside: string, around: Surroundings): string {
  const [target = '', label] = inside.split('|');
  if (target.startsWith('@')) return personName(target.slice(1), around);
  if (target.startsWith('#')) return channelName(target.slice(1), around);
  if (target.startsWith('!subteam^')) return groupName(target.slice(9), around);
  if (target.startsWith('!date^')) {
    const [, seconds = '0', format = ''] = target.split('^');
    return formatDate(Number(seconds), format, around.now);
  }
  if (target.startsWith('!')) return `@${target.slice(1)}`;
  return label ?? target;
}
