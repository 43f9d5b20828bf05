import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { Card, Decision } from '../../domain/decision.ts';
import type { ChannelId, ConfirmationId, UserId, WorkspaceId } from '../../domain/ids.ts';

/** Who is asked to decide: the channel, or where it can't be reached these users. */
export interface Deciders {
  readonly channelId?: ChannelId | undefined;
  readonly userIds: readonly UserId[];
}

/** Notifies users of one kind of decision. No method throws. */
export interface DecisionNotifier<Kind> {
  /** Asks them to decide; returns the cards that were posted. */
  postCards(decision: Kind, deciders: Deciders): Promise<readonly Card[]>;
  /** Shows the current state in the cards that were posted. True when Slack took all of them. */
  updateCards(decision: Kind): Promise<boolean>;
  /** Reports the outcome to the requester, or before it, whether deciders were asked. True if Slack accepted the message. */
  notifyRequester(decision: Kind): Promise<boolean>;
}

/** One kind of decision as it is stored. Every change of state is one transaction with its audit entry. */
export interface DecisionStore<Kind extends Decision> {
  find(id: ConfirmationId): Promise<Kind | undefined>;
  storeCards(id: ConfirmationId, cards: readonly Card[]): Promise<void>;
  /** Stores that users were notified of that state. If it has changed since, they still have to be notified of the new one. */
  markNotified(id: ConfirmationId, state: Kind['state']): Promise<void>;
  /** Oldest first. */
  listOpen(workspaceId: WorkspaceId): Promise<readonly Kind[]>;
  /** Expires open ones after their time; returns them. */
  expire(now: number, auditOf: (decision: Kind) => AuditEntry): Promise<readonly Kind[]>;
  /** Those that changed their state before that time and that users have not been notified of, oldest first. */
  listUnnotified(before: number): Promise<readonly Kind[]>;
}
