import type { AccessRequest } from '../../domain/access-request.ts';
import type { NewDecision } from '../../domain/decision.ts';
import type { ChannelId, ConfirmationId, UserId, WorkspaceId } from '../../domain/ids.ts';
import type { DecisionStore } from '../decisions/ports.ts';
import type { NewGrant } from './grants-port.ts';
export type NewAccessRequest = Omit<NewDecision<AccessRequest>, 'until' | 'granted'>;

export type RequestOutcome =
  | { readonly kind: 'new'; readonly request: AccessRequest; readonly replaced: readonly AccessRequest[] }
  | { readonly kind: 'repeated'; readonly request: AccessRequest }
  /** The requests that were made since, oldest first. */
  | { readonly kind: 'too_many'; readonly recent: readonly AccessRequest[] };

export interface AccessRequests extends DecisionStore<AccessRequest> {
  /**
   * Stores a request. If the same user has requested the same role for the same servers since `since`, and that request is
   * open or denied, it is returned instead; older open ones are replaced, and returned so that their cards are closed.
   * A user who has made `most` requests since then, for any role, can't make another one.
   */
  request(
    request: NewAccessRequest,
    limit: { readonly since: number; readonly most: number },
  ): Promise<RequestOutcome>;
  /**
   * open → approved (with its grant, in the same transaction) or denied. Undefined when it is not open any more.
   * An approval never lowers a role: a higher or longer grant that the requester has received since stays, and `until` says so.
   */
  decide(
    id: ConfirmationId,
    decision: {
      readonly by: UserId;
      readonly at: number;
      readonly grant?: NewGrant;
      readonly denialReason?: string;
    },
  ): Promise<AccessRequest | undefined>;
  /** open → withdrawn, by the requester alone. Undefined when it is not open any more, or another user's. */
  withdraw(
    id: ConfirmationId,
    by: { readonly requesterId: UserId; readonly at: number },
  ): Promise<AccessRequest | undefined>;
}

/** Slack's channels (scopes `channels:read`, `groups:read`). */
export interface Channels {
  /** `unknown`: deleted, or private and without the app; undefined without the scope or an answer. */
  look(workspaceId: WorkspaceId, channelId: ChannelId): Promise<'there' | 'archived' | 'unknown' | undefined>;
  /** Whether other organizations read along, or are invited to (Slack Connect); undefined when Slack does not say. */
  isShared(workspaceId: WorkspaceId, channelId: ChannelId): Promise<boolean | undefined>;
  /** Whether the user is a member; undefined without the scope or an answer, and for private channels without the app. */
  hasMember(workspaceId: WorkspaceId, channelId: ChannelId, userId: UserId): Promise<boolean | undefined>;
}
