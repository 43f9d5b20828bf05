import { CLOSED_WORDS } from '../decisions/closed-words.ts';
import type { RefusalWords } from '../kit/refusal-words.ts';
import { mention } from '../kit/text.ts';

/** What the refusals of approvals and of answers to requests say. */
export const approvalRefusalWords = {
  approval_needed: () =>
    'Deletions now need a second person’s approval, so nothing was deleted. Open the dialog again to request it.',
  approval_unsaved: () =>
    'We couldn’t save your approval. What you approved may still be carried out. The request will show the outcome; `/vps status` shows open requests and unconfirmed orders.',
  own_request: () => 'You can’t approve your own request.',
  request_over: ({ state, by }) => CLOSED_WORDS[state](by === undefined ? '' : ` by ${mention(by)}`),
} satisfies Partial<RefusalWords>;
