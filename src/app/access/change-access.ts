import type { Grant, Grantee, HeldRoles } from '../../domain/access.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import type { Role } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import type { GrantId, UserId } from '../../domain/ids.ts';
import { EVERY_SERVER, matchesPattern } from '../../domain/label-pattern.ts';
import { cannotHoldRole, findRoles } from '../authorize/find-roles.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { redrawHomes } from '../home/redraw-homes.ts';
import { checkGrantee } from './check-grantee.ts';
import { describeForAudit } from './describe-for-audit.ts';
import { refuseLastOwner } from './refuse-last-owner.ts';

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
