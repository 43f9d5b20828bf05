import { groupName, type Named, personName } from '../../../src/sandbox/slack/mentions.ts';
import type { Channel } from '../../../src/sandbox/slack/workspace.ts';

/** What the renderers must know of the workspace. */
export interface Surroundings extends Named {
  readonly channels: readonly Pick<Channel, 'id' | 'name' | 'kind'>[];
}

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
    return formatDate(Number(seconds), format);
  }
  if (target.startsWith('!')) return `@${target.slice(1)}`;
  return label ?? target;
}

function channelName(id: string, { channels }: Surroundings): string {
  const channel = channels.find((each) => each.id === id);
  return channel && channel.kind !== 'dm' ? `#${channel.name}` : '#private channel';
}

/**
 * Fills the date tokens of Slack that the app uses for a reader in UTC (Slack's "Formatting message text" page). The pretty
 * one never says "today" here, so that texts don't depend on when a test runs.
 */
function formatDate(seconds: number, format: string): string {
  const date = new Date(seconds * 1000);
  const day = date.toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
  const tokens: Readonly<Record<string, string>> = {
    date_short: day,
    date_short_pretty: day,
    time: date.toISOString().slice(11, 16),
  };
  return format.replace(/\{(\w+)\}/g, (whole, token: string) => tokens[token] ?? whole);
}
