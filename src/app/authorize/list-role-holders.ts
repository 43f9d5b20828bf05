import { coversRole } from '../../domain/access.ts';
import type { Role } from '../../domain/actor.ts';
import type { AppContext } from '../ports.ts';
import { findRoles } from './find-roles.ts';

const MOST_CANDIDATES = 30;
const MOST_NAMED = 10;

/** The owners who are known by ID, ten at most. */
export async function listOwners(workspaceId: string, app: AppContext): Promise<readonly string[]> {
  return listRoleHolders('owner', undefined, workspaceId, app);
}

/**
 * The users who could approve a request about the server with this label, without the requester: those who are known
 * by ID, ten at most.
 */
export async function listApprovers(
  request: { readonly workspaceId: string; readonly requesterId: string; readonly label: string },
  app: AppContext,
): Promise<readonly string[]> {
  const managers = await listRoleHolders('manager', request.label, request.workspaceId, app);
  return managers.filter((userId) => userId !== request.requesterId).slice(0, MOST_NAMED);
}

/**
 * Candidates are the named owners, everyone with a grant, and everyone who has granted a role: Slack offers no list of its
 * admins. Each one's roles are checked, which leaves out guests in a group, deactivated users and roles that have ended.
 */
async function listRoleHolders(
  needed: Role,
  label: string | undefined,
  workspaceId: string,
  app: AppContext,
): Promise<readonly string[]> {
  const grants = await app.grants.list(workspaceId);
  const fitting = grants.filter(({ role, pattern }) =>
    coversRole([{ role, pattern, source: 'named' }], needed, label),
  );
  const members = fitting.map(({ subjectKind, subjectId }) => {
    if (subjectKind === 'group') return app.groups.listMembers(workspaceId, subjectId);
    return subjectKind === 'user' ? [subjectId] : [];
  });
  const granted = (await Promise.all(members)).flatMap((ids) => ids ?? []);
  const known = [...app.ownersOf(workspaceId), ...granted, ...grants.map(({ grantedBy }) => grantedBy)];
  const candidates = [...new Set(known)].slice(0, MOST_CANDIDATES);
  const roles = await Promise.all(
    candidates.map((userId) => findRoles({ workspaceId, userId }, app, needed)),
  );
  return candidates.filter((_, at) => coversRole(roles[at] ?? [], needed, label)).slice(0, MOST_NAMED + 1);
}
