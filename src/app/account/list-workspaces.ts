import type { WorkspaceId } from '../../domain/ids.ts';
import { defineUseCase } from '../authorize/use-case.ts';
import { requireEveryWorkspace } from './every-workspace.ts';

/** Lists the workspaces that have an API key. @throws Refusal `other_workspace` from within a workspace */
export const listConnectedWorkspaces = defineUseCase({
  name: 'list_connected',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, app }): Promise<readonly WorkspaceId[]> => {
    requireEveryWorkspace(actor);
    return app.apiKeys.listWorkspaces();
  },
});

/** Lists the workspaces that have audit entries, or had. @throws Refusal `other_workspace` from within a workspace */
export const listAuditedWorkspaces = defineUseCase({
  name: 'list_audited',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, app }): Promise<readonly WorkspaceId[]> => {
    requireEveryWorkspace(actor);
    return app.audit.listWorkspaces();
  },
});
