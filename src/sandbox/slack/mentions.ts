import { isJson } from './json.ts';
import type { StoredMessage } from './messages.ts';
import { type Channel, Roster } from './workspace.ts';

/** Writes & < > as entities, as Slack does with all text that users type. */
export function escapeEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The names that a client completes. */
interface Known {
  readonly channels: readonly Channel[];
  readonly roster: Roster;
}

/**
 * Turns what a user typed into what the app gets: entities, and with should_escape `@name`, `#channel`
 * and addresses as ids (Slack's "Implementing slash commands" page).
 */
export function escapeTyped(text: string, { channels, roster }: Known): string {
  return escapeEntities(text).replace(
    /(^|\s)(https?:\/\/\S+|[@#][\w.-]*\w)/g,
    (whole, before: string, word: string) => {
      const escaped = escapeWord(word, { channels, roster });
      return escaped === undefined ? whole : `${before}${escaped}`;
    },
  );
}

function escapeWord(word: string, { channels, roster }: Known): string | undefined {
  if (word.startsWith('http')) return `<${word}>`;
  const name = word.slice(1);
  if (word.startsWith('#')) {
    const channel = channels.find((each) => each.kind !== 'dm' && each.name === name);
    return channel && `<#${channel.id}|${channel.name}>`;
  }
  if (['here', 'channel', 'everyone'].includes(name)) return `<!${name}>`;
  const group = roster.findGroup(name);
  if (group && !group.isDisabled) return `<!subteam^${group.id}>`;
  const user = roster.findUser(name);
  return user && `<@${user.id}>`;
}

/** Finds whom a message notifies by name: mentions in mrkdwn, never in plain text. */
export function findPings(message: StoredMessage, named: Named = {}): readonly string[] {
  const fromBlocks = message.blocks.flatMap((block) => pingsIn(block, named));
  return [...new Set([...pingsInText(message.text, named), ...fromBlocks])];
}

function pingsIn(part: unknown, named: Named): readonly string[] {
  if (Array.isArray(part)) return part.flatMap((each) => pingsIn(each, named));
  if (!isJson(part)) return [];
  if (part.type === 'mrkdwn') return pingsInText(String(part.text), named);
  return Object.values(part).flatMap((each) => pingsIn(each, named));
}

function pingsInText(text: string, named: Named): readonly string[] {
  return [...text.matchAll(/<(@|!subteam\^|!)(\w+)(?:\^[^<>]*)?(?:\|[^<>]*)?>/g)].flatMap(
    ([, kind, name = '']) => {
      if (kind === '@') return [personName(name, named)];
      if (kind === '!subteam^') return [groupName(name, named)];
      return ['channel', 'here', 'everyone'].includes(name) ? [`@${name}`] : [];
    },
  );
}

/** Where names are looked up; in a fresh workspace, unless said otherwise. */
export interface Named {
  readonly roster?: Roster | undefined;
}

const fresh = new Roster();

export function personName(id: string, { roster = fresh }: Named): string {
  return `@${roster.findUser(id)?.name ?? id}`;
}

export function groupName(id: string, { roster = fresh }: Named): string {
  return `@${roster.findGroup(id)?.handle ?? id}`;
}
