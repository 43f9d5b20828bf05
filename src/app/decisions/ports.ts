import type { Card } from '../../domain/decision.ts';
import type { ChannelId, UserId } from '../../domain/ids.ts';

/** Tells users about one kind of decision: an approval, or a request for a role. No method throws. */
export interface DecisionNotifier<Decision> {
  /** Asks the channel, or else these users, to decide; returns the cards that were posted. */
  postCards(
    decision: Decision,
    to: { readonly channelId?: ChannelId | undefined; readonly deciders: readonly UserId[] },
  ): Promise<readonly Card[]>;
  /** Shows the current state in the cards that were posted. */
  updateCards(decision: Decision): Promise<void>;
  /** Tells the requester the outcome, or that nobody could be asked; true when Slack took the message. */
  notifyRequester(decision: Decision): Promise<boolean>;
}
