import type { Grant, Grantee } from '../../domain/access.ts';
import type { Role } from '../../domain/actor.ts';
import type { Approval, ApprovalState, Card } from '../../domain/approval.ts';
import type { Operation } from '../../domain/operation.ts';
import type { WorkspaceSettings } from '../../domain/settings.ts';
import type { AuditEntry, Budget } from '../ports.ts';

export type NewGrant = Omit<Grant, 'id'>;

/** Who has which role (DESIGN 3). */
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

/** Somebody asked the owners for a role. */
export interface AccessRequest {
  readonly id: string;
  readonly workspaceId: string;
  readonly requesterId: string;
  /** Where it was asked. */
  readonly channelId?: string;
  readonly role: Role;
  readonly pattern: string;
  readonly reason: string;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly state: 'open' | 'approved' | 'denied' | 'replaced' | 'expired';
  readonly decidedBy?: string;
  /** When it stopped being open, by whatever. */
  readonly decidedAt?: number;
  /** Until when the role counts that was approved; absent when it is for good. */
  readonly until?: number;
  /** Whether this state has been told: in cards while it is open, to the asker after that. */
  readonly isNotified: boolean;
  readonly cards: readonly Card[];
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

/** What waits for a second person. Every change of state is one transaction with its audit entry. */
export interface Approvals {
  /** The same id again, or an open one about the same server's delete or month, is returned instead. */
  request(
    approval: Omit<Approval, 'state' | 'isNotified' | 'cards' | 'decidedBy' | 'decidedAt' | 'reason'>,
    audit: AuditEntry,
  ): Promise<{ readonly isNew: boolean; readonly approval: Approval }>;
  find(id: string): Promise<Approval | undefined>;
  storeCards(id: string, cards: readonly Card[]): Promise<void>;
  /** The state was told. When it has moved on since, the new one stays owed. */
  markNotified(id: string, state: ApprovalState): Promise<void>;
  /**
   * open → approved, unless it has expired; a purchase's operation is prepared in the same transaction (DESIGN 4.1),
   * within the budget if one is given: over it, nothing is changed.
   * Undefined when it is not open any more. When the same month was confirmed meanwhile it is void in that very
   * transaction (`already_renewed`, audited as that), and `operation` is the other one.
   */
  approve(
    id: string,
    decision: { readonly by: string; readonly at: number; readonly budget?: Budget },
    audit: AuditEntry,
  ): Promise<{ readonly approval: Approval; readonly operation?: Operation } | 'over_budget' | undefined>;
  /** Moves it on from one of these states; false when it stands at another one. The new state is owed. */
  move(
    id: string,
    from: readonly ApprovalState[],
    to: {
      readonly state: ApprovalState;
      readonly at: number;
      readonly by?: string;
      readonly reason?: string;
    },
    audit?: AuditEntry,
  ): Promise<boolean>;
  /** Oldest first. */
  listOpen(workspaceId: string): Promise<readonly Approval[]>;
  /**
   * What nobody is at any more: open ones that have expired, deletes that have been approved or running since before
   * `since`, and those whose state came before `untold` and has not been told.
   */
  listUnfinished(when: {
    readonly now: number;
    readonly since: number;
    readonly untold: number;
  }): Promise<readonly Approval[]>;
}

export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly settings: WorkspaceSettings;
}

export interface Workspaces {
  /** Adds it, or updates its name. Settings stay. */
  put(workspace: { readonly id: string; readonly name: string }, at: number): Promise<void>;
  find(id: string): Promise<Workspace | undefined>;
  /** False when they are not as they were, by what somebody else saved: then nothing is changed. */
  changeSettings(id: string, was: WorkspaceSettings, settings: WorkspaceSettings): Promise<boolean>;
}

/** What is asked of Slack about a person. */
export interface SlackUser {
  readonly isAdmin: boolean;
  readonly isGuest: boolean;
  readonly isBot: boolean;
  readonly isDeactivated: boolean;
  /** Of another organisation (Slack Connect). */
  readonly isStranger: boolean;
  /** The workspaces that they are a member of, as far as Slack says: several in Enterprise Grid. */
  readonly teamIds: readonly string[];
}

export interface Users {
  /** Undefined when it can't be looked up: then nothing but a grant by name counts. */
  find(workspaceId: string, userId: string): Promise<SlackUser | undefined>;
  /** Whether Slack knows such a person at all; asked where `find` has no answer. */
  /** `hidden`: the app may not ask (no scope `users:read`), so no later answer can be another one. */
  exists(workspaceId: string, userId: string): Promise<'yes' | 'no' | 'hidden' | 'unknown'>;
}

/** Slack's channels (scopes `channels:read`, `groups:read`). */
export interface Channels {
  /** `unknown`: deleted, or private and without the app; undefined without the scope or an answer. */
  look(workspaceId: string, channelId: string): Promise<'there' | 'archived' | 'unknown' | undefined>;
}

export interface UserGroup {
  readonly id: string;
  /** As it is mentioned, without the @. */
  readonly handle: string;
  readonly name: string;
  readonly isDisabled: boolean;
}

/** Slack's user groups (scope `usergroups:read`); asked at most once in five minutes. */
export interface Groups {
  /** Undefined without the scope, or when Slack does not answer. */
  list(workspaceId: string): Promise<readonly UserGroup[] | undefined>;
  /**
   * Ids of its members: none of a group that is disabled or not listed, and none without the scope. Undefined when
   * Slack does not answer: then nobody knows.
   */
  listMembers(workspaceId: string, groupId: string): Promise<readonly string[] | undefined>;
}
