import type { Grant, Grantee } from '../../domain/access.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { Card } from '../../domain/decision.ts';

export type NewGrant = Omit<Grant, 'id'>;

/** Who has which role (docs/design.md 3). */
export interface Grants {
  /**
   * Replaces what the same subject has for the same servers for good, or of the same role for a time: roles for a time
   * stand beside each other and beside the one for good. An owner covers every server: with a pattern it is a defect.
   */
  put(grant: NewGrant): Promise<Grant>;
  /** Undefined when it was gone already. */
  remove(workspaceId: string, id: string): Promise<Grant | undefined>;
  /** All grants of one subject; the removed ones. */
  removeAll(workspaceId: string, grantee: Grantee): Promise<readonly Grant[]>;
  /** Those that may count for this person in this place: their own, the channel's and every group's, if not over. */
  listFor(
    workspaceId: string,
    place: { readonly userId: string; readonly channelId?: string },
    now: number,
  ): Promise<readonly Grant[]>;
  /** Oldest first; also those that are over and not removed yet. */
  list(workspaceId: string): Promise<readonly Grant[]>;
  /** Removes those whose time is over, each with its audit entry in the same transaction. */
  removeEnded(now: number, auditOf: (grant: Grant) => AuditEntry): Promise<readonly Grant[]>;
}

export type NewAccessRequest = Omit<
  AccessRequest,
  'state' | 'isNotified' | 'cards' | 'decidedBy' | 'decidedAt' | 'until'
>;

export type RequestOutcome =
  | { readonly kind: 'new'; readonly request: AccessRequest; readonly replaced: readonly AccessRequest[] }
  | { readonly kind: 'repeated'; readonly request: AccessRequest }
  /** Those that were made since, oldest first. */
  | { readonly kind: 'too_many'; readonly recent: readonly AccessRequest[] };

export interface AccessRequests {
  /**
   * Writes a request. One of the same person for the same role and servers that was made since `since` and is open
   * or denied is returned instead; older open ones are replaced by it, and handed back so that their cards be closed.
   * Whoever has made `most` since then, whatever for, makes no other one.
   */
  request(
    request: NewAccessRequest,
    limit: { readonly since: number; readonly most: number },
  ): Promise<RequestOutcome>;
  find(id: string): Promise<AccessRequest | undefined>;
  storeCards(id: string, cards: readonly Card[]): Promise<void>;
  /** The state was told. When it has moved on since, the new one stays owed. */
  markNotified(id: string, state: AccessRequest['state']): Promise<void>;
  /**
   * open → approved (with its grant, in the same transaction) or denied. Undefined when it is not open any more.
   * A yes takes nothing away: what the asker has been given meanwhile and is more stays, and `until` says it.
   */
  decide(
    id: string,
    decision: { readonly by: string; readonly at: number; readonly grant?: NewGrant },
  ): Promise<AccessRequest | undefined>;
  /** Oldest first. */
  listOpen(workspaceId: string): Promise<readonly AccessRequest[]>;
  /** open → expired of those that are over, each with its audit entry in the same transaction; those. */
  expire(now: number, auditOf: (request: AccessRequest) => AuditEntry): Promise<readonly AccessRequest[]>;
  /** Those whose state came before that moment and has not been told, oldest first. */
  listUnnotified(before: number): Promise<readonly AccessRequest[]>;
}

/** Slack's channels (scopes `channels:read`, `groups:read`). */
export interface Channels {
  /** `unknown`: deleted, or private and without the app; undefined without the scope or an answer. */
  look(workspaceId: string, channelId: string): Promise<'there' | 'archived' | 'unknown' | undefined>;
}
