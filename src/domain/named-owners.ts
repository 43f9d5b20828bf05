import type { UserId, WorkspaceId } from './ids.ts';

/** An entry of `OWNERS`: a user, alone or in one workspace (`T012AB3CD:U012AB3CD`). */
export const NAMED_OWNER = /^(?:T[A-Z0-9]{2,}:)?[UW][A-Z0-9]{2,}$/;

/** Whether an entry of `OWNERS` names the workspace. */
export function isInWorkspace(entry: string): boolean {
  return entry.includes(':');
}

/** The owners of a workspace that the operator named; without a workspace, all of them. */
export function listNamedOwners(entries: readonly string[], workspaceId?: WorkspaceId): readonly UserId[] {
  const named = entries.map((entry) => entry.split(':'));
  return named.flatMap(([first = '', second]) => {
    if (second === undefined) return [first];
    return workspaceId === undefined || first === workspaceId ? [second] : [];
  });
}
