import type { RefusalWords } from '../kit/refusal-words.ts';
import { mention } from '../kit/text.ts';

/** What the refusals of approvals and of answers to requests say. */
export const approvalRefusalWords = {
  approval_needed: () =>
    'Deleting takes a second person in this workspace now. Open the dialog again to ask for one; nothing was deleted.',
  own_request: () => 'Nobody answers their own request: it takes somebody else.',
  request_over: ({ state, by }) => {
    const who = by === undefined ? '' : ` by ${mention(by)}`;
    return `${REQUEST_STATES[state] ?? 'This is decided already'}${who}. Nothing more was done.`;
  },
} satisfies Partial<RefusalWords>;

const REQUEST_STATES: Readonly<Record<string, string>> = {
  approved: 'This was approved already',
  running: 'This was approved already',
  ended: 'This was approved already',
  denied: 'This was denied already',
  expired: 'This was not approved in time',
  void: 'This is void: what it was about has changed',
  replaced: 'This was asked for again since',
  unknown: 'There is nothing to decide here',
};
