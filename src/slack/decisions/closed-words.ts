import type { AccessRequestState, ClosedState } from '../../domain/decision.ts';

/** Why something can't be decided any more, as the beginning of a sentence. */
export const CLOSED_WORDS: Readonly<Record<ClosedState, string>> = {
  approved: 'This was approved already',
  running: 'This was approved already',
  ended: 'This was approved already',
  denied: 'This was denied already',
  expired: 'This was not approved in time',
  void: 'This is void: what it was about has changed',
  replaced: 'This was asked for again since',
  unknown: 'There is nothing to decide here',
};

/** How an earlier access request ended, as the middle of a sentence. */
export const EARLIER_WORDS: Readonly<Record<AccessRequestState, string>> = {
  open: '; the owners have it',
  denied: ', and an owner said no',
  approved: '',
  replaced: '',
  expired: '',
};
