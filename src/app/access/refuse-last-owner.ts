import type { Grant } from '../../domain/access.ts';
import { Refusal } from '../../domain/errors.ts';
import { cannotHoldRole } from '../authorize/find-roles.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import type { AccessPorts } from './ports.ts';

/** How many members of a group are checked. */
const MOST_MEMBERS = 10;

/** @throws Refusal `last_owner` when no owner would be left to grant the role again */
export async function refuseLastOwner(
  isRemoved: (grant: Grant) => boolean,
  { actor, ports }: Pick<UseCaseContext<AccessPorts>, 'actor' | 'ports'>,
): Promise<void> {
  const grants = (await ports.grants.list(actor.workspaceId)).filter(({ role }) => role === 'owner');
  if (!grants.some(isRemoved)) return;
  if (ports.ownersOf(actor.workspaceId).length > 0) return;
  const user = await ports.users.find(actor.workspaceId, actor.userId);
  if (user?.isAdmin) return;
  const staying = grants.filter((grant) => !isRemoved(grant));
  const isLasting = await Promise.all(staying.map((grant) => keepsAnOwner(grant, ports)));
  if (!isLasting.includes(true)) throw new Refusal('last_owner', {});
}

/** Whether a grant keeps someone an owner: a channel has no fixed users, and a temporary grant ends. */
async function keepsAnOwner(
  { subjectKind, subjectId, workspaceId, until }: Grant,
  { users, groups }: Pick<AccessPorts, 'users' | 'groups'>,
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
