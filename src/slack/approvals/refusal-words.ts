import { CLOSED_WORDS } from '../decisions/closed-words.ts';
import type { RefusalWords } from '../kit/refusal-words.ts';
import { mention } from '../kit/text.ts';

/** What the refusals of approvals and of answers to requests say. */
export const approvalRefusalWords = {
  approval_needed: () =>
    'Deleting takes a second person in this workspace now. Open the dialog again to ask for one; nothing was deleted.',
  own_request: () => 'Nobody answers their own request: it takes somebody else.',
  request_over: ({ state, by }) => {
    const who = by === undefined ? '' : ` by ${mention(by)}`;
    return `${CLOSED_WORDS[state]}${who}. Nothing more was done.`;
  },
} satisfies Partial<RefusalWords>;
