import { coversRole } from '../../domain/access.ts';
import type { Role } from '../../domain/actor.ts';
import { findRoles, type RolePorts } from './find-roles.ts';

const MOST_CANDIDATES = 30;
const MOST_NAMED = 10;

/** Those who can give a role, as far as they are known by id. Ten at most. */
export async function listOwners(workspaceId: string, ports: RolePorts): Promise<readonly string[]> {
  return listRoleHolders('owner', undefined, workspaceId, ports);
}

/**
 * Those who could approve what somebody asked for about the server of this label, as far as they are known by id and
 * wherever they are: not who asked. Ten at most.
 */
export async function listApprovers(
  asked: { readonly workspaceId: string; readonly requesterId: string; readonly label: string },
  ports: RolePorts,
): Promise<readonly string[]> {
  const those = await listRoleHolders('manager', asked.label, asked.workspaceId, ports);
  return those.filter((userId) => userId !== asked.requesterId).slice(0, MOST_NAMED);
}

/**
 * Slack does not say who its admins are: those of them who gave somebody a role are known by that. Who may not do it is left out: guests in a group, people who were deactivated, roles that have ended.
 */
async function listRoleHolders(
  needed: Role,
  label: string | undefined,
  workspaceId: string,
  ports: RolePorts,
): Promise<readonly string[]> {
  const grants = await ports.grants.list(workspaceId);
  const fitting = grants.filter(({ role, pattern }) =>
    coversRole([{ role, pattern, source: 'named' }], needed, label),
  );
  const members = fitting.map(({ subjectKind, subjectId }) => {
    if (subjectKind === 'group') return ports.groups.listMembers(workspaceId, subjectId);
    return subjectKind === 'user' ? [subjectId] : [];
  });
  const granted = (await Promise.all(members)).flatMap((ids) => ids ?? []);
  const known = [...ports.ownersOf(workspaceId), ...granted, ...grants.map(({ grantedBy }) => grantedBy)];
  const candidates = [...new Set(known)].slice(0, MOST_CANDIDATES);
  const roles = await Promise.all(
    candidates.map((userId) => findRoles({ workspaceId, userId }, ports, needed)),
  );
  return candidates.filter((_, at) => coversRole(roles[at] ?? [], needed, label)).slice(0, MOST_NAMED + 1);
}
