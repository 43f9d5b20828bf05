import { findKeyNameOf, isCommandLine } from '../../domain/actor.ts';
import { unmatchedWords } from '../../domain/part-of-list.ts';
import type { RefusalWords } from '../kit/refusal-words.ts';
import { codeLabel, codeTyped, count, escapeText, mention } from '../kit/text.ts';
import { VERBS } from './verbs.ts';

/** What the refusals of servers say. */
export const serverRefusalWords = {
  unknown_server: ({ typed, nearest, near = [], extent }) =>
    `${unmatchedWords(typed, codeTyped(typed), extent)}${suggestionWords(nearest === undefined ? near.map(({ label }) => label) : [nearest])}`,
  ambiguous_server: ({ typed, servers }) =>
    `${count(servers.length, 'server')} match ${codeTyped(typed)}. Which one? Nothing has been changed.`,
  label_differs: ({ label }) => `That doesn’t match, so nothing was deleted. Type ${codeLabel(label, 150)}.`,
  too_many_servers: ({ count: matching, most, action }) =>
    `${count(matching, 'server')} match, and you can ${action} up to ${most} at once. Nothing has been changed. Name fewer servers.`,
  server_renamed: ({ before, now, action }) =>
    `${codeLabel(before)} is now called ${codeLabel(now)}, so it wasn’t ${VERBS[action].past}.`,
  confirmation_expired: ({ action }) =>
    `This confirmation has expired, so nothing was ${VERBS[action].past}. Run the command again.`,
  server_protected: ({ server, act, protectedBy }) =>
    `${codeLabel(server.label)} is protected by ${mention(protectedBy)}, so it can’t be ${VERBS[act].past}. An owner can lift the protection on the server’s card.`,
  prefix_only: ({ typed, server, action }) =>
    `${codeTyped(typed)} is only the beginning of ${codeLabel(server.label)}. ${VERBS[action].title} ${codeLabel(server.label)}? Nothing has been changed.`,
  rebooted_recently: ({ server, agoMs, rebootedBy }) =>
    `${codeLabel(server.label)} was ${rebootedWords({ agoMs, rebootedBy })}. Reboot again?`,
} satisfies Partial<RefusalWords>;

/** "rebooted 40 s ago by @otto" */
export function rebootedWords({ agoMs, rebootedBy }: { agoMs: number; rebootedBy: string }): string {
  const isUser = !isCommandLine(rebootedBy) && findKeyNameOf(rebootedBy) === undefined;
  return `rebooted ${Math.max(1, Math.round(agoMs / 1000))} s ago by ${isUser ? mention(rebootedBy) : `the ${escapeText(rebootedBy)}`}`;
}

/** Two or three names; more are only counted. */
const MOST_SUGGESTED = 3;

function suggestionWords(labels: readonly string[]): string {
  const [last = '', ...others] = labels
    .slice(0, MOST_SUGGESTED)
    .map((label) => codeLabel(label))
    .reverse();
  if (last === '') return '';
  const more = labels.length - MOST_SUGGESTED;
  if (more > 0) return ` Did you mean ${[...others.reverse(), last].join(', ')} or one of ${more} more?`;
  return ` Did you mean ${others.length > 0 ? `${others.reverse().join(', ')} or ` : ''}${last}?`;
}
