import type { AppContext } from '../context.ts';
import { auditRoles } from '../core/audit-entry.ts';
import { defineUseCase, type FollowUpContext, type UseCaseContext } from '../core/entry.ts';
import { Refusal, type RefusalDetails } from '../core/errors.ts';
import type { GrantId, UserId, WorkspaceId } from '../core/ids.ts';
import { EVERY_SERVER, matchesPattern } from '../core/labels.ts';
import { cannotHoldRole, type KnownRoles, lookUpRoles } from '../core/permission.ts';
import type { Grant, Grantee, HeldRoles, Role } from '../core/roles.ts';
import { withGuest } from '../requests/notify.ts';
import { ROLES_ASKED, type RoleRequest } from '../requests/request.ts';
import type { UserGroup } from '../slack/directory.ts';

export interface AccessList {
  readonly grants: readonly Grant[];
  readonly owners: readonly UserId[];
  /** Admins of the Slack workspace, who are owners; undefined if Slack doesn't list them. */
  readonly admins: { readonly userIds: readonly UserId[]; readonly isComplete: boolean } | undefined;
  readonly requests: readonly RoleRequest[];
}

/** Reads who has which role in the workspace and why, and the open access requests. */
export const listAccess = defineUseCase({
  name: 'access',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { app, actor }): Promise<AccessList> => {
    const { workspaceId } = actor;
    const now = app.system.now();
    const [grants, requests, admins] = await Promise.all([
      app.grants.list(workspaceId),
      app.requests.listOpen(workspaceId, ROLES_ASKED, now),
      app.admins.list(workspaceId),
    ]);
    return {
      grants: grants.filter(({ until }) => (until ?? now + 1) > now),
      owners: app.ownersOf(workspaceId),
      admins: admins && {
        userIds: admins.users.filter((user) => !cannotHoldRole(user, workspaceId)).map(({ id }) => id),
        isComplete: admins.isComplete,
      },
      requests: await Promise.all(requests.map((request) => withGuest(request, app.users))),
    };
  },
});

/** Reads which roles a user holds in the actor's channel, and why, and the ones that Slack didn't confirm. */
export const explainAccess = defineUseCase({
  name: 'access',
  needs: 'owner',
  effect: 'reads',
  run: async (input: { userId: UserId }, { app, actor }): Promise<KnownRoles> =>
    lookUpRoles({ ...actor, userId: input.userId, homeTeamId: actor.workspaceId }, app),
});

export type WantedGrant = Grantee & {
  readonly role: Role;
  readonly pattern: string;
  /** Duration in milliseconds; absent for a permanent grant. */
  readonly forMs?: number;
};

export interface Granted {
  readonly grant: Grant;
  /** Servers that match its pattern now; absent for all servers, and if the whole list can't be read. */
  readonly matchingServers?: number;
}

/**
 * Grants a role. Replaces the subject's permanent grant for the same pattern or, for a temporary grant, the temporary one of the
 * same role.
 * @throws Refusal `no_grantee`, `owner_limited`, `last_owner`
 */
export const grantAccess = defineUseCase({
  name: 'access_grant',
  needs: 'owner',
  effect: 'changes',
  subject: (wanted: WantedGrant) => ({ details: auditRoles([wanted]) }),
  run: async (wanted: WantedGrant, context): Promise<Granted> => {
    const { actor, app } = context;
    const { forMs, ...rest } = wanted;
    if (wanted.role === 'owner' && wanted.pattern !== EVERY_SERVER) throw new Refusal('owner_limited', {});
    // Anyone can join a public channel, and would make themselves an owner.
    if (wanted.role === 'owner' && wanted.subjectKind === 'channel') {
      throw new Refusal('no_grantee', { problem: 'owner_channel' });
    }
    await checkGrantee(wanted, context);
    const owners = await findOwnerGrants((grant) => isOf(grant, wanted), context);
    const grantedAt = app.system.now();
    const until = forMs === undefined ? undefined : grantedAt + forMs;
    const { workspaceId, userId: grantedBy } = actor;
    const granted = { ...rest, workspaceId, grantedBy, grantedAt, until };
    const grant = await app.grants.put(granted, owners);
    const matchingServers =
      wanted.pattern === EVERY_SERVER ? undefined : await countMatching(wanted.pattern, context);
    return { grant, matchingServers };
  },
});

/**
 * Revokes one grant, or all of a subject. `left`: which roles a user still has in the actor's channel; undefined if Slack didn't
 * confirm that.
 * @throws Refusal `last_owner`, `grant_over`
 */
export const revokeAccess = defineUseCase({
  name: 'access_revoke',
  needs: 'owner',
  effect: 'changes',
  subject: (input: Grantee | { grantId: GrantId }) => ({
    details:
      'grantId' in input
        ? { kind: 'id', id: input.grantId }
        : { kind: 'every_role', subjectId: input.subjectId },
  }),
  run: async (input: Grantee | { grantId: GrantId }, context) => {
    const { actor, app, setSubject } = context;
    const isRemoved = (grant: Grant) =>
      'grantId' in input ? grant.id === input.grantId : isOf(grant, input);
    const owners = await findOwnerGrants(isRemoved, context);
    const removed = await app.grants.remove(actor.workspaceId, input, owners);
    const roles = removed.map((grant) => ({ ...grant, forMs: grant.until && grant.until - grant.grantedAt }));
    if (removed.length > 0) setSubject({ details: auditRoles(roles) });
    else if ('grantId' in input) throw new Refusal('grant_over', {});
    if ('grantId' in input || input.subjectKind !== 'user') return { removed, left: [] as HeldRoles };
    const user = { ...actor, userId: input.subjectId, homeTeamId: actor.workspaceId };
    // They are revoked, whether or not it can be said what is left.
    const left = await lookUpRoles(user, app, undefined, { isFresh: true }).catch(() => undefined);
    return { removed, left: left?.possible.length === 0 ? left.held : undefined };
  },
});

/** Counts the servers that match a pattern; undefined if the whole list can't be read. */
async function countMatching(pattern: string, context: UseCaseContext): Promise<number | undefined> {
  const list = await context
    .hosting()
    .then((hosting) => hosting.fetchServers())
    .catch(() => undefined);
  if (list?.extent !== 'whole') return undefined;
  return list.servers.filter(({ label }) => matchesPattern(pattern, label)).length;
}

/**
 * Refuses a subject that can't have a role. Accepts users and channels that Slack doesn't answer about, since their IDs come
 * from Slack. Refuses a group whose members can't be read, and without the scope `users:read` (which tells members from guests
 * and outsiders) every group and channel, since such grants would have no effect.
 * @throws Refusal `no_grantee`
 */
export async function checkGrantee(grantee: Grantee, { actor, app }: FollowUpContext): Promise<void> {
  const { subjectKind, subjectId } = grantee;
  const problem =
    (await findProblem[subjectKind](subjectId, actor.workspaceId, app)) ??
    // Without `users:read`, roles of groups and channels don't count (docs/design.md 3.4).
    (subjectKind !== 'user' && (await app.users.exists(actor.workspaceId, actor.userId)) === 'hidden'
      ? 'no_user_scope'
      : undefined);
  if (problem) throw new Refusal('no_grantee', { problem });
}

type Problem = RefusalDetails['no_grantee']['problem'];
type FindProblem = (id: string, workspaceId: WorkspaceId, app: AppContext) => Promise<Problem | undefined>;

const findProblem: Readonly<Record<Grantee['subjectKind'], FindProblem>> = {
  user: async (id, workspaceId, { users }) => {
    const user = await users.find(workspaceId, id);
    if (!user) {
      const exists = await users.exists(workspaceId, id);
      return exists === 'no' || exists === 'invisible' ? 'no_member' : undefined;
    }
    return cannotHoldRole(user, workspaceId) ? 'no_member' : undefined;
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

const MOST_MEMBERS = 10;

function isOf(grant: Grant, { subjectKind, subjectId }: Grantee): boolean {
  return grant.subjectKind === subjectKind && grant.subjectId === subjectId;
}

/**
 * Finds the grants that keep someone an owner, of which one has to be left; undefined if there are owners without a grant: those in
 * `OWNERS`, or the actor as a Slack admin. Asks Slack only if an owner's grant is to be changed.
 */
async function findOwnerGrants(
  isChanged: (grant: Grant) => boolean,
  { actor, app }: UseCaseContext,
): Promise<readonly GrantId[] | undefined> {
  const { workspaceId, userId } = actor;
  if (app.ownersOf(workspaceId).length > 0) return undefined;
  const grants = (await app.grants.list(workspaceId)).filter(({ role }) => role === 'owner');
  // None counts: if someone makes it an owner's in the meantime, the change is refused.
  if (!grants.some(isChanged)) return [];
  const user = await app.users.find(workspaceId, userId, { isFresh: true });
  if (user?.isAdmin) return undefined;
  const areLasting = await Promise.all(grants.map((grant) => keepsAnOwner(grant, app)));
  return grants.filter((_, at) => areLasting[at]).map(({ id }) => id);
}

/** Whether an owner grant keeps someone an owner. A temporary grant ends, and a channel has no fixed members. */
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

/** Lists the user groups of the workspace; undefined without the scope, or when Slack doesn't answer. */
export const listGroups = defineUseCase({
  name: 'access_grant',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, app }): Promise<readonly UserGroup[] | undefined> =>
    app.groups.list(actor.workspaceId),
});

export type NewGrant = Omit<Grant, 'id'>;
