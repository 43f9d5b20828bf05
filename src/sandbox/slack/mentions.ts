import type { Channel } from './channels.ts';
import { findPerson, USERGROUPS } from './workspace.ts';

/** Writes & < > as entities, as Slack does with all text that people type. */
export function escapeEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Turns what a person typed into what the app gets: entities, and with should_escape `@name`, `#channel`
 * and addresses as ids (Slack's "Implementing slash commands" page).
 */
export function escapeTyped(text: string, channels: readonly Channel[]): string {
  return escapeEntities(text).replace(
    /(^|\s)(https?:\/\/\S+|[@#][\w.-]*\w)/g,
    (whole, before: string, word: string) => {
      const escaped = escapeWord(word, channels);
      return escaped === undefined ? whole : `${before}${escaped}`;
    },
  );
}

function escapeWord(word: string, channels: readonly Channel[]): string | undefined {
  if (word.startsWith('http')) return `<${word}>`;
  const name = word.slice(1);
  if (word.startsWith('#')) {
    const channel = channels.find((each) => each.kind !== 'dm' && each.name === name);
    return channel && `<#${channel.id}|${channel.name}>`;
  }
  if (['here', 'channel', 'everyone'].includes(name)) return `<!${name}>`;
  const group = USERGROUPS.find((each) => each.handle === name);
  if (group) return `<!subteam^${group.id}>`;
  const person = findPerson(name);
  return person && `<@${person.id}>`;
}
