import type { Grant } from '../../domain/access.ts';
import type { UserId, WorkspaceId } from '../../domain/ids.ts';
import type { AppContext } from '../ports.ts';

/** Of a large group, only the users who opened Home last are updated; the others see the change when they open it again. */
const MOST_OF_A_GROUP = 200;

/**
 * Shows the Home of all users again whose roles have changed with these grants: a Home keeps showing the servers of a role that
 * was revoked. Roles for channels don't count on Home.
 */
export async function redrawHomes(grants: readonly Grant[], app: AppContext): Promise<void> {
  for (const workspaceId of new Set(grants.map((grant) => grant.workspaceId))) {
    const own = grants.filter((grant) => grant.workspaceId === workspaceId);
    const users = await Promise.all(own.map((grant) => listUsers(grant, app)));
    const concerned = [...new Set(users.flat())];
    if (concerned.length > 0) app.homeRedraw.redraw(workspaceId, concerned);
  }
}

async function listUsers(
  { workspaceId, subjectKind, subjectId }: Grant,
  app: AppContext,
): Promise<readonly UserId[]> {
  if (subjectKind === 'user') return [subjectId];
  return subjectKind === 'group' ? listMembers(workspaceId, subjectId, app) : [];
}

async function listMembers(
  workspaceId: WorkspaceId,
  groupId: string,
  { homes, groups }: AppContext,
): Promise<readonly UserId[]> {
  const members = new Set(await groups.listMembers(workspaceId, groupId));
  const opened = await homes.listUsers(workspaceId, MOST_OPENED);
  return opened.filter((userId) => members.has(userId)).slice(0, MOST_OF_A_GROUP);
}

/** A row has only two short IDs, so this many are cheap to read. */
const MOST_OPENED = 5000;
