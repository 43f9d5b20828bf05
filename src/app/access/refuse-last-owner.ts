import type { Grant } from '../../domain/access.ts';
import { Refusal } from '../../domain/errors.ts';
import { cannotHoldRole } from '../authorize/find-roles.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import type { AppContext } from '../ports.ts';
import type { GrantsVersion } from './grants-port.ts';

/** How many members of a group are checked. */
const MOST_MEMBERS = 10;

/**
 * Checks that an owner is left to grant the role again. Returns the version of the grants for which that holds, where it
 * depends on them.
 * @throws Refusal `last_owner`
 */
export async function refuseLastOwner(
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
