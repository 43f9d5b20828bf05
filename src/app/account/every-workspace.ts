import type { Actor } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import type { WorkspaceId } from '../../domain/ids.ts';

/**
 * Represents all workspaces of this installation. Only the command line can act on them together: the entry refuses every
 * other caller without a workspace.
 */
export const EVERY_WORKSPACE: WorkspaceId = '';

/** @throws Refusal `other_workspace` when the actor acts in a single workspace */
export function requireEveryWorkspace({ workspaceId }: Actor): void {
  if (workspaceId !== EVERY_WORKSPACE) throw new Refusal('other_workspace', {});
}
