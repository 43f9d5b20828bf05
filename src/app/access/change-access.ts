import type { Grant, Grantee, HeldRoles } from '../../domain/access.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import type { Role } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import { EVERY_SERVER, matchesPattern } from '../../domain/label-pattern.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { cannotHoldRole, findRoles } from '../authorize/find-roles.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';
import { checkGrantee } from './check-grantee.ts';

const defineUseCase = useCasesOver<AppPorts>();

export interface AccessList {
  readonly grants: readonly Grant[];
  /** The owners that the operator named. */
  readonly owners: readonly string[];
  readonly requests: readonly AccessRequest[];
}

/** Who has which role here, the owners that the operator named, and who asks for more. */
export const listAccess = defineUseCase({
  name: 'access',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { ports, actor }): Promise<AccessList> => {
    const { grants, accessRequests } = ports;
    const now = ports.system.now();
    return {
      grants: (await grants.list(actor.workspaceId)).filter(({ until }) => (until ?? now + 1) > now),
      owners: ports.ownersOf(actor.workspaceId),
      requests: await accessRequests.listOpen(actor.workspaceId),
    };
  },
});

/** What somebody may do when acting in this channel, and why. */
export const explainAccess = defineUseCase({
  name: 'access',
  needs: 'owner',
  effect: 'reads',
  run: async (input: { userId: string }, { ports, actor }): Promise<HeldRoles> =>
    findRoles({ ...actor, userId: input.userId, homeTeamId: actor.workspaceId }, ports),
});

export type WantedGrant = Grantee & {
  readonly role: Role;
  readonly pattern: string;
  /** How long it is for; absent: for good. */
  readonly forMs?: number;
};

/**
 * Gives a role; an earlier one of the same subject for the same servers is replaced (among temporary ones: of that role).
 * @throws Refusal `no_grantee`, `owner_limited`, `last_owner`
 */
export const grantAccess = defineUseCase({
  name: 'access_grant',
  needs: 'owner',
  effect: 'changes',
  subject: (wish: WantedGrant) => ({ label: describeForAudit(wish) }),
  run: async (wish: WantedGrant, context): Promise<{ grant: Grant; fits?: number }> => {
    const { actor, ports } = context;
    const { forMs, ...rest } = wish;
    if (wish.role === 'owner' && wish.pattern !== EVERY_SERVER) throw new Refusal('owner_limited', {});
    await checkGrantee(wish, context);
    await refuseLastOwner((grant) => isReplaced(grant, wish), context, wish);
    const now = ports.system.now();
    const grant = await ports.grants.put({
      ...rest,
      workspaceId: actor.workspaceId,
      grantedBy: actor.userId,
      grantedAt: now,
      ...(forMs === undefined ? {} : { until: now + forMs }),
    });
    const fits = wish.pattern === EVERY_SERVER ? undefined : await countFitting(wish.pattern, context);
    return { grant, ...(fits === undefined ? {} : { fits }) };
  },
});

/**
 * Takes one grant away, or all of a subject; those that were there.
 * @throws Refusal `last_owner`
 */
export const revokeAccess = defineUseCase({
  name: 'access_revoke',
  needs: 'owner',
  effect: 'changes',
  subject: (input: Grantee | { grantId: string }) => ({
    label: 'grantId' in input ? input.grantId : input.subjectId,
  }),
  run: async (input: Grantee | { grantId: string }, context): Promise<readonly Grant[]> => {
    const { actor, ports, setSubject } = context;
    const { grants } = ports;
    if (!('grantId' in input)) {
      await refuseLastOwner((grant) => isSubject(grant, input), context);
      const all = await grants.removeAll(actor.workspaceId, input);
      if (all.length > 0) setSubject({ label: all.map(describeForAudit).join(', ') });
      return all;
    }
    await refuseLastOwner(({ id }) => id === input.grantId, context);
    const removed = await grants.remove(actor.workspaceId, input.grantId);
    if (!removed) throw new Refusal('grant_over', {});
    setSubject({ label: describeForAudit(removed) });
    return [removed];
  },
});

/** "operator web-* U012AB3CD for 480 min": the audit's words for a role that is given or taken. */
function describeForAudit(grant: Grant | WantedGrant): string {
  const { role, pattern, subjectId } = grant;
  const ms = 'grantedAt' in grant ? grant.until && grant.until - grant.grantedAt : grant.forMs;
  return [role, pattern, subjectId, ms ? `for ${Math.round(ms / MINUTE_MS)} min` : '']
    .filter(Boolean)
    .join(' ');
}

/** How many servers a pattern fits today; undefined when nobody can say just now. */
async function countFitting(pattern: string, context: UseCaseContext<AppPorts>): Promise<number | undefined> {
  const servers = await context
    .hosting()
    .then((hosting) => hosting.listServers())
    .catch(() => undefined);
  return servers?.filter(({ label }) => matchesPattern(pattern, label)).length;
}

function isSubject(grant: Grant, { subjectKind, subjectId }: Grantee): boolean {
  return grant.subjectKind === subjectKind && grant.subjectId === subjectId;
}

/** One for good and one for a time live side by side. */
function isReplaced(grant: Grant, wish: WantedGrant): boolean {
  const isSameEnd = (grant.until === undefined) === (wish.forMs === undefined);
  return isSubject(grant, wish) && grant.pattern === wish.pattern && isSameEnd;
}

/** @throws Refusal `last_owner`: nobody could give the role back */
async function refuseLastOwner(
  goes: (grant: Grant) => boolean,
  { actor, ports }: UseCaseContext<AppPorts>,
  comes?: WantedGrant,
): Promise<void> {
  const grants = await ports.grants.list(actor.workspaceId);
  const going = grants.filter((grant) => grant.role === 'owner' && goes(grant));
  if (going.length === 0 || comes?.role === 'owner') return;
  if (ports.ownersOf(actor.workspaceId).length > 0) return;
  const person = await ports.users.find(actor.workspaceId, actor.userId);
  if (person?.isAdmin) return;
  const staying = grants.filter((grant) => grant.role === 'owner' && !goes(grant));
  const stays = await Promise.all(staying.map((grant) => keepsSomebody(grant, ports)));
  if (!stays.includes(true)) throw new Refusal('last_owner', {});
}

/** Whether somebody is an owner by it: a channel is nobody, and what ends by itself keeps nobody in. */
async function keepsSomebody(
  { subjectKind, subjectId, workspaceId, until }: Grant,
  { users, groups }: UseCaseContext<AppPorts>['ports'],
): Promise<boolean> {
  if (until !== undefined || subjectKind === 'channel') return false;
  const ids =
    subjectKind === 'user' ? [subjectId] : ((await groups.listMembers(workspaceId, subjectId)) ?? []);
  const persons = await Promise.all(ids.slice(0, 10).map((id) => users.find(workspaceId, id)));
  // A person whom Slack does not tell of is taken for one; of a group, only who is known to count.
  return persons.some((person) =>
    person
      ? !cannotHoldRole(person, workspaceId) && (subjectKind === 'user' || !person.isGuest)
      : subjectKind === 'user',
  );
}
