import type { AppContext } from '../context.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import type { UserGroup } from '../core/directory.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { Refusal, type RefusalDetails } from '../core/errors.ts';
import type { ChannelId, ConfirmationId, GrantId, UserId, WorkspaceId } from '../core/ids.ts';
import { EVERY_SERVER, matchesPattern } from '../core/labels.ts';
import { cannotHoldRole, findRoles } from '../core/permission.ts';
import type { Actor, Grant, Grantee, HeldRoles, Role } from '../core/roles.ts';
import { MINUTE_MS } from '../core/time.ts';
import { redrawHomes } from '../home/redraw.ts';
import type { DecisionStore, NewDecision } from '../requests/decision.ts';
import type { AccessRequest } from '../requests/role-request.ts';

export interface AccessList {
  readonly grants: readonly Grant[];
  /** The owners that the operator named (`OWNERS`). */
  readonly owners: readonly UserId[];
  /** Owners since they are admins of the Slack workspace; undefined when Slack does not say. */
  readonly admins: { readonly userIds: readonly UserId[]; readonly isComplete: boolean } | undefined;
  readonly requests: readonly AccessRequest[];
}

/** Lists who has which role here and why, and the open access requests. */
export const listAccess = defineUseCase({
  name: 'access',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { app, actor }): Promise<AccessList> => {
    const { workspaceId } = actor;
    const now = app.system.now();
    const [grants, requests, admins] = await Promise.all([
      app.grants.list(workspaceId),
      app.accessRequests.listOpen(workspaceId),
      app.admins.list(workspaceId),
    ]);
    return {
      grants: grants.filter(({ until }) => (until ?? now + 1) > now),
      owners: app.ownersOf(workspaceId),
      admins: admins && {
        userIds: admins.users.filter((user) => !cannotHoldRole(user, workspaceId)).map(({ id }) => id),
        isComplete: admins.isComplete,
      },
      requests,
    };
  },
});

/** Which roles a user holds when acting in this channel, and why. */
export const explainAccess = defineUseCase({
  name: 'access',
  needs: 'owner',
  effect: 'reads',
  run: async (input: { userId: UserId }, { app, actor }): Promise<HeldRoles> =>
    findRoles({ ...actor, userId: input.userId, homeTeamId: actor.workspaceId }, app),
});

export type WantedGrant = Grantee & {
  readonly role: Role;
  readonly pattern: string;
  /** How long it lasts; absent: permanently. */
  readonly forMs?: number;
};

export interface Granted {
  readonly grant: Grant;
  /** How many servers its pattern matches today; absent for all servers, and if the whole list can't be read. */
  readonly matchingServers?: number;
}

/**
 * Grants a role. An earlier grant of the same subject for the same servers is replaced (a temporary one only if it is of
 * that role).
 * @throws Refusal `no_grantee`, `owner_limited`, `last_owner`, `grants_moved`
 */
export const grantAccess = defineUseCase({
  name: 'access_grant',
  needs: 'owner',
  effect: 'changes',
  subject: (wanted: WantedGrant) => ({ label: describeForAudit(wanted) }),
  run: async (wanted: WantedGrant, context): Promise<Granted> => {
    const { actor, app } = context;
    const { forMs, ...rest } = wanted;
    if (wanted.role === 'owner' && wanted.pattern !== EVERY_SERVER) throw new Refusal('owner_limited', {});
    // Anyone can join a public channel, and would make themselves an owner.
    if (wanted.role === 'owner' && wanted.subjectKind === 'channel') {
      throw new Refusal('no_grantee', { problem: 'owner_channel' });
    }
    await checkGrantee(wanted, context);
    const seen =
      wanted.role === 'owner'
        ? undefined
        : await refuseLastOwner((grant) => isReplaced(grant, wanted), context);
    const grantedAt = app.system.now();
    const until = forMs === undefined ? undefined : grantedAt + forMs;
    const { workspaceId, userId: grantedBy } = actor;
    const granted = { ...rest, workspaceId, grantedBy, grantedAt, until };
    const grant = await app.grants.put(granted, seen);
    const matchingServers =
      wanted.pattern === EVERY_SERVER ? undefined : await countMatching(wanted.pattern, context);
    return { grant, matchingServers };
  },
  follow: ({ grant }, { app }) => redrawHomes([grant], app),
});

/**
 * Revokes one grant, or all of a subject; returns those that there were.
 * @throws Refusal `last_owner`, `grant_over`, `grants_moved`
 */
export const revokeAccess = defineUseCase({
  name: 'access_revoke',
  needs: 'owner',
  effect: 'changes',
  subject: (input: Grantee | { grantId: GrantId }) => ({
    label: 'grantId' in input ? input.grantId : input.subjectId,
  }),
  run: async (input: Grantee | { grantId: GrantId }, context): Promise<readonly Grant[]> => {
    const { actor, app, setSubject } = context;
    const { grants } = app;
    if (!('grantId' in input)) {
      const seen = await refuseLastOwner((grant) => isSubject(grant, input), context);
      const all = await grants.removeAll(actor.workspaceId, input, seen);
      if (all.length > 0) setSubject({ label: all.map(describeGrantForAudit).join(', ') });
      return all;
    }
    const seen = await refuseLastOwner(({ id }) => id === input.grantId, context);
    const removed = await grants.remove(actor.workspaceId, input.grantId, seen);
    if (!removed) throw new Refusal('grant_over', {});
    setSubject({ label: describeGrantForAudit(removed) });
    return [removed];
  },
  follow: (removed, { app }) => redrawHomes(removed, app),
});

/** How long a grant lasts, or lasted, as the audit says it. */
function describeGrantForAudit(grant: Grant): string {
  return describeForAudit({ ...grant, forMs: grant.until && grant.until - grant.grantedAt });
}

/** How many servers a pattern matches today; undefined if the whole list can't be read now. */
async function countMatching(pattern: string, context: UseCaseContext): Promise<number | undefined> {
  const list = await context
    .hosting()
    .then((hosting) => hosting.fetchServers())
    .catch(() => undefined);
  if (list?.extent !== 'whole') return undefined;
  return list.servers.filter(({ label }) => matchesPattern(pattern, label)).length;
}

function isSubject(grant: Grant, { subjectKind, subjectId }: Grantee): boolean {
  return grant.subjectKind === subjectKind && grant.subjectId === subjectId;
}

/** A permanent one and a temporary one stand side by side. */
function isReplaced(grant: Grant, wanted: WantedGrant): boolean {
  const isSameEnd = (grant.until === undefined) === (wanted.forMs === undefined);
  return isSubject(grant, wanted) && grant.pattern === wanted.pattern && isSameEnd;
}

/**
 * Checks whether a role can be granted to this subject. Users and channels that can't be looked up are accepted, since
 * their IDs come from Slack. A group whose members can't be read is refused, since its grant would have no effect.
 * So is a group or a channel where the app can't tell guests and outsiders from members (scope `users:read`).
 * @throws Refusal `no_grantee`
 */
export async function checkGrantee(
  grantee: Grantee,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<void> {
  const { subjectKind, subjectId } = grantee;
  const problem =
    (await findProblem[subjectKind](subjectId, actor.workspaceId, app)) ??
    (subjectKind === 'user' ? undefined : await findBlindness(actor, app));
  if (problem) throw new Refusal('no_grantee', { problem });
}

/** Roles of groups and channels count for members alone: where the app can't tell who is one, they don't count. */
async function findBlindness(actor: Actor, { users }: AppContext): Promise<Problem | undefined> {
  return (await users.exists(actor.workspaceId, actor.userId)) === 'hidden' ? 'no_user_scope' : undefined;
}

type Problem = RefusalDetails['no_grantee']['problem'];
type FindProblem = (id: string, workspaceId: WorkspaceId, app: AppContext) => Promise<Problem | undefined>;

const findProblem: Readonly<Record<Grantee['subjectKind'], FindProblem>> = {
  user: async (id, workspaceId, { users }) => {
    const user = await users.find(workspaceId, id);
    if (!user) {
      const exists = await users.exists(workspaceId, id);
      return exists === 'no' || exists === 'invisible' ? 'unknown_user' : undefined;
    }
    if (user.isBot) return 'bot';
    if (user.isDeactivated) return 'deactivated';
    return cannotHoldRole(user, workspaceId) ? 'stranger' : undefined;
  },
  group: async (id, workspaceId, { groups }) => {
    const all = await groups.list(workspaceId);
    // Without the scope the member list is empty rather than unknown.
    if (!all) return (await groups.listMembers(workspaceId, id)) ? 'no_group_scope' : 'slack_silent';
    const group = all.find((known) => known.id === id);
    if (!group) return 'unknown_group';
    return group.isDisabled ? 'disabled_group' : undefined;
  },
  channel: async (id, workspaceId, { channels }) => {
    const seen = await channels.look(workspaceId, id);
    if (seen === 'archived') return 'archived_channel';
    return seen === 'unknown' ? 'unknown_channel' : undefined;
  },
};

/** How many members of a group are checked. */
const MOST_MEMBERS = 10;

/**
 * Checks that an owner is left to grant the role again. Returns the version of the grants for which that holds, where it
 * depends on them.
 * @throws Refusal `last_owner`
 */
async function refuseLastOwner(
  isRemoved: (grant: Grant) => boolean,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<GrantsVersion | undefined> {
  const version = await app.grants.readVersion(actor.workspaceId);
  const grants = (await app.grants.list(actor.workspaceId)).filter(({ role }) => role === 'owner');
  if (!grants.some(isRemoved)) return undefined;
  if (app.ownersOf(actor.workspaceId).length > 0) return undefined;
  const user = await app.users.find(actor.workspaceId, actor.userId, { isFresh: true });
  if (user?.isAdmin) return undefined;
  const staying = grants.filter((grant) => !isRemoved(grant));
  const isLasting = await Promise.all(staying.map((grant) => keepsAnOwner(grant, app)));
  if (!isLasting.includes(true)) throw new Refusal('last_owner', {});
  return version;
}

/** Whether a grant keeps someone an owner: a channel has no fixed users, and a temporary grant ends. */
async function keepsAnOwner(
  { subjectKind, subjectId, workspaceId, until }: Grant,
  { users, groups }: AppContext,
): Promise<boolean> {
  if (until !== undefined || subjectKind === 'channel') return false;
  const isGroup = subjectKind === 'group';
  const ids = isGroup ? ((await groups.listMembers(workspaceId, subjectId)) ?? []) : [subjectId];
  const found = await Promise.all(ids.slice(0, MOST_MEMBERS).map((id) => users.find(workspaceId, id)));
  // A user that Slack says nothing about counts; of a group, only members that Slack does describe.
  return found.some((user) =>
    user ? !cannotHoldRole(user, workspaceId) && !(isGroup && user.isGuest) : !isGroup,
  );
}

/** Lists the user groups that a role can be granted to; undefined without the scope, or when Slack does not answer. */
export const listGroups = defineUseCase({
  name: 'access_grant',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, app }): Promise<readonly UserGroup[] | undefined> =>
    app.groups.list(actor.workspaceId),
});

/** "operator web-* U012AB3CD for 480 min": what the audit says about a role that is granted, revoked or requested. */
export function describeForAudit(grant: {
  readonly role: Role;
  readonly pattern: string;
  readonly subjectId: string;
  readonly forMs?: number | undefined;
}): string {
  const { role, pattern, subjectId, forMs } = grant;
  const time = forMs ? `for ${Math.round(forMs / MINUTE_MS)} min` : '';
  return [role, pattern, subjectId, time].filter(Boolean).join(' ');
}

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

export type NewGrant = Omit<Grant, 'id'>;

/** A count of the changes: what was decided by looking at the grants holds only while it stays the same. */
export type GrantsVersion = number;

/** Who has which role (docs/design.md 3). */
export interface Grants {
  /**
   * Replaces the permanent grant that the same subject has for the same servers, or the temporary one of the same role:
   * temporary grants stand beside each other and beside the permanent one. An owner covers every server: a pattern with
   * it is a defect.
   * With `seen`, here and below, nothing is changed unless the grants are still those of that version.
   * @throws Refusal `grants_moved`
   */
  put(grant: NewGrant, seen?: GrantsVersion): Promise<Grant>;
  /** Undefined when it was gone already. @throws Refusal `grants_moved` */
  remove(workspaceId: WorkspaceId, id: GrantId, seen?: GrantsVersion): Promise<Grant | undefined>;
  /** All grants of one subject; returns the removed ones. @throws Refusal `grants_moved` */
  removeAll(workspaceId: WorkspaceId, grantee: Grantee, seen?: GrantsVersion): Promise<readonly Grant[]>;
  /** How often the grants of this workspace have changed. */
  readVersion(workspaceId: WorkspaceId): Promise<GrantsVersion>;
  /** Those that may count for this user in this place and have not ended: their own, the channel's and every group's. */
  listFor(
    workspaceId: WorkspaceId,
    place: { readonly userId: UserId; readonly channelId?: ChannelId },
    now: number,
  ): Promise<readonly Grant[]>;
  /** Oldest first; also those that have ended and are not removed yet. */
  list(workspaceId: WorkspaceId): Promise<readonly Grant[]>;
  /** Removes those that have ended, each with its audit entry in the same transaction. */
  removeEnded(now: number, auditOf: (grant: Grant) => AuditEntry): Promise<readonly Grant[]>;
}
