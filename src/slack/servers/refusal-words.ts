import type { RefusalWords } from '../kit/refusal-words.ts';
import { codeLabel, codeTyped, count, mention } from '../kit/text.ts';
import { VERBS } from './verbs.ts';

/** What the refusals of servers say. */
export const serverRefusalWords = {
  unknown_server: ({ typed, nearest }) =>
    `No server matches ${codeTyped(typed)}.${nearest === undefined ? '' : ` Did you mean ${codeLabel(nearest)}?`}`,
  ambiguous_server: ({ typed, servers }) =>
    `${count(servers.length, 'server')} match ${codeTyped(typed)}. Which one? Nothing has been changed.`,
  label_differs: ({ label }) => `That doesn’t match, so nothing was deleted. Type ${codeLabel(label, 150)}.`,
  too_many_servers: ({ count: named, most }) => `You can act on up to ${most} servers at once, not ${named}.`,
  server_protected: ({ server, act, protectedBy }) =>
    `${codeLabel(server.label)} is protected by ${mention(protectedBy)}, so it can’t be ${VERBS[act].past}. An owner can lift the protection on the server’s card.`,
  prefix_only: ({ typed, server, action }) =>
    `${codeTyped(typed)} is only the beginning of ${codeLabel(server.label)}. ${VERBS[action].title} ${codeLabel(server.label)}? Nothing has been changed.`,
  rebooted_recently: ({ server, agoMs, rebootedBy }) =>
    `${codeLabel(server.label)} was rebooted ${Math.max(1, Math.round(agoMs / 1000))} s ago by ${mention(rebootedBy)}. Reboot again?`,
} satisfies Partial<RefusalWords>;
