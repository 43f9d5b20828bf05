import type { RefusalWords } from '../kit/refusal-words.ts';
import { codeLabel, codeTyped, count } from '../kit/text.ts';

/** What the refusals of servers say. */
export const serverRefusalWords = {
  unknown_server: ({ typed, nearest }) =>
    `There is no server ${codeTyped(typed)}.${nearest === undefined ? '' : ` Did you mean ${codeLabel(nearest)}?`}`,
  ambiguous_server: ({ typed, servers }) =>
    `${codeTyped(typed)} fits ${count(servers.length, 'server')}. Nothing was done; which one do you mean?`,
  label_differs: ({ label }) => `Nothing was deleted: to delete it, type exactly ${codeLabel(label, 150)}.`,
  too_many_servers: ({ count: asked, most }) => `${asked} servers at once are too many; ${most} is the most.`,
} satisfies Partial<RefusalWords>;
