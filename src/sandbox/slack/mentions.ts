import type { Channel } from './channels.ts';
import type { Roster } from './roster.ts';

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
